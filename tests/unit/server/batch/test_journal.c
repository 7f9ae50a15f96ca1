/* SPDX-License-Identifier: MIT
 * The report of a batch, written and read again. */
#include "server/batch/journal.h"

#include "tests/unit/server/batch/batch_fixture.h"

#define JOB "blur?sigma=\"3\""

static struct names *names;
static struct transfer_result result;
static struct error err;

static int enter(void **state) {
    return batch_test_enter(state) == 0 && names_create(&names, &err) == ST_OK ? 0 : -1;
}

static int leave(void **state) {
    names_destroy(names);
    transfer_result_finish(&result);
    result = (struct transfer_result){0};
    return batch_test_leave(state);
}

static struct bytes text_bytes(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static uint32_t known(const char *name) {
    return names_get(names, names_digest(names, text_bytes(name)));
}

static struct journal_entry entry(const char *name, const char *output) {
    const struct stat file = {.st_size = 1234, .st_nlink = 1, .st_mtim = {.tv_sec = -5, .tv_nsec = 67}};
    return (struct journal_entry){.name = name,
                                  .status = output ? "done" : "failed",
                                  .output = output,
                                  .file = file,
                                  .result = &result,
                                  .tries = 1,
                                  .ms = 2.5};
}

/* Writes a report with one line for each name, whose answers are there. */
static void write_report(const char *const *name, size_t count) {
    struct buf lines;
    int fd;
    buf_init(&lines, 1 << 20);
    assert_int_equal(journal_open("report", false, JOB, -1, NULL, &fd, &err), ST_OK);
    for (size_t i = 0; i < count; i++) {
        const struct journal_entry one = entry(name[i], name[i]);
        batch_test_file(name[i], "answer");
        assert_int_equal(journal_write(&one, &lines, &err), ST_OK);
    }
    assert_int_equal(journal_append(fd, buf_bytes(&lines), &err), ST_OK);
    buf_finish(&lines);
    close(fd);
}

static enum status resume(const char *job) {
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd;
    err = (struct error){0};
    const enum status status = journal_open("report", true, job, here, names, &fd, &err);
    close(here);
    if (fd >= 0) {
        assert_true(status != ST_OK || lseek(fd, 0, SEEK_CUR) == lseek(fd, 0, SEEK_END));
        close(fd);
    }
    return status;
}

static void test_lines(void **state) {
    struct buf lines;
    (void)state;
    buf_init(&lines, 1 << 16);
    result = (struct transfer_result){.head = {.status = 200, .regions = 3, .backend = "cpu"}, .bytes = 99};
    buf_init(&result.report, 100);
    assert_int_equal(buf_append(&result.report, "{\n\"a\":\r\n1}", 10, &err), ST_OK);
    struct journal_entry one = entry("a\n\"\\.jpg", "b.jpg");
    one.hashed = true;
    assert_int_equal(journal_write(&one, &lines, &err), ST_OK);
    assert_int_equal(buf_append(&lines, "", 1, &err), ST_OK);
    assert_string_equal(
        (char *)lines.data,
        "{\"file\":\"a\\u000a\\\"\\\\.jpg\",\"status\":\"done\",\"size\":1234,\"mtime\":\"-5.000000067\","
        "\"sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\","
        "\"output\":\"b.jpg\",\"bytes\":99,\"backend\":\"cpu\",\"regions\":3,"
        "\"report\":{ \"a\":  1},\"tries\":1,\"ms\":2.5}\n");
    lines.size = 0;
    result.head.status = 422;
    snprintf(result.reason, sizeof result.reason, "corrupt-image");
    snprintf(result.detail, sizeof result.detail, "no \"picture\"");
    one = entry("a", NULL);
    one.tries = 0;
    one.file.st_nlink = 0;
    assert_int_equal(journal_write(&one, &lines, &err), ST_OK);
    assert_int_equal(buf_append(&lines, "", 1, &err), ST_OK);
    assert_string_equal((char *)lines.data,
                        "{\"file\":\"a\",\"status\":\"failed\",\"reason\":\"corrupt-image\","
                        "\"detail\":\"no \\\"picture\\\"\",\"http\":422}\n");
    buf_finish(&lines);
}

/* Each name is found again, whatever is in it. */
static void test_names(void **state) {
    static char longest[200], wild[201];
    static const char *const name[] = {"a.jpg",
                                       "b\n.jpg",
                                       "c\"\\'{}.jpg",
                                       "\xff\xfe.jpg",
                                       "\xc3\xa4/\xe2\x82\xac",
                                       "\xef\xbf\xbd",
                                       "\xef\xbf\xbd\xff.jpg",
                                       "\xc3.jpg",
                                       "\x01\x7f\x80",
                                       "d e\tf",
                                       longest,
                                       wild,
                                       "\xed\xa0\x80",
                                       "\xf0\x9f\x98\x80",
                                       "00ff",
                                       "/"};
    const size_t count = sizeof name / sizeof *name - 1;
    (void)state;
    memset(longest, 'n', sizeof longest - 1);
    memset(wild, '\xfe', sizeof wild - 1);
    result.bytes = 6;
    write_report(name, count);
    assert_int_equal(resume(JOB), ST_OK);
    for (size_t i = 0; i < count; i++) {
        const struct journal_entry one = entry(name[i], NULL);
        assert_int_equal(known(name[i]), journal_state(names, &one.file));
    }
    assert_int_equal(known("\xef\xbf\xbd\xef\xbf\xbd.jpg"), 0);
    assert_int_equal(known("/"), 0);
}

static void test_states(void **state) {
    struct stat file = {.st_size = 5, .st_mtim = {.tv_sec = 7, .tv_nsec = 8}};
    (void)state;
    const uint32_t one = journal_state(names, &file);
    assert_true(one != 0 && one == journal_state(names, &file));
    file.st_mtim.tv_nsec = 9;
    assert_true(one != journal_state(names, &file));
    file.st_mtim.tv_nsec = 8;
    file.st_size = 6;
    assert_true(one != journal_state(names, &file));
}

/* What is missing or was shortened is done again, and so is what has failed later. */
static void test_answers_that_are_gone(void **state) {
    static const char *const name[] = {"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"};
    (void)state;
    result.bytes = 6;
    write_report(name, 5);
    assert_int_equal(unlink("a.jpg"), 0);
    assert_int_equal(truncate("b.jpg", 5), 0);
    assert_int_equal(unlink("c.jpg"), 0);
    assert_int_equal(symlink("d.jpg", "c.jpg"), 0);
    FILE *more = fopen("report", "ae");
    assert_true(
        fputs("{\"file\":\"e.jpg\",\"status\":\"failed\",\"reason\":\"x\",\"detail\":\"y\"}\n", more) >= 0);
    fclose(more);
    assert_int_equal(resume(JOB), ST_OK);
    assert_int_equal(known("a.jpg"), JOURNAL_GONE);
    assert_int_equal(known("b.jpg"), JOURNAL_GONE);
    assert_int_equal(known("c.jpg"), JOURNAL_GONE);
    assert_true(known("d.jpg") % 2 == 1);
    assert_int_equal(known("e.jpg"), JOURNAL_GONE);
    assert_int_equal(known("f.jpg"), 0);
}

/* A batch that was killed may leave any part of its last line. */
static void test_torn_lines(void **state) {
    static const char *const name[] = {"a.jpg", "b.jpg"};
    static char whole[4096];
    (void)state;
    result.bytes = 6;
    write_report(name, 2);
    snprintf(whole, sizeof whole, "%s", batch_test_read("report"));
    const size_t size = strlen(whole), first = strcspn(whole, "\n") + 1,
                 second = first + strcspn(whole + first, "\n") + 1;
    for (size_t cut = 0; cut <= size; cut++) {
        names_destroy(names);
        assert_int_equal(names_create(&names, &err), ST_OK);
        char part[4096];
        snprintf(part, sizeof part, "%.*s", (int)cut, whole);
        batch_test_file("report", part);
        assert_int_equal(resume(JOB), ST_OK);
        assert_int_equal(known("a.jpg") != 0, cut >= second);
        assert_int_equal(known("b.jpg") != 0, cut == size);
        const size_t kept = cut == size ? size : cut >= second ? second : first;
        part[0] = '\0';
        snprintf(part, sizeof part, "%.*s", (int)kept, whole);
        assert_string_equal(batch_test_read("report"), part);
    }
}

static void assert_refused(const char *text, const char *sentence) {
    batch_test_file("report", text);
    assert_int_equal(resume(JOB), ST_ARGUMENT);
    assert_string_equal(err.text, sentence);
    assert_string_equal(batch_test_read("report"), text); /* and stays as it is */
}

#define FIRST "{\"job\":\"blur?sigma=\\\"3\\\"\",\"version\":1}\n"

static void test_reports_that_are_refused(void **state) {
    (void)state;
    assert_refused("{\"job\":\"blur\",\"version\":1}\n",
                   "report is the report of another job: {\"job\":\"blur\",\"version\":1}\n");
    assert_refused(FIRST "{\"file\":\"a\"}\nno line\n", "line 3 of report is damaged");
    assert_refused(FIRST "\n", "line 2 of report is damaged");
    assert_refused(FIRST "{}\n", "line 2 of report is damaged");
    assert_refused(FIRST "{\"file\":\"\"}\n", "line 2 of report is damaged");
    assert_refused(FIRST "{\"file_bytes\":\"0g\"}\n", "line 2 of report is damaged");
    assert_refused(FIRST "{\"file_bytes\":\"0\"}\n", "line 2 of report is damaged");
    assert_refused(FIRST "{\"file\":\"a\",\"size\":\"b\"}\n", "line 2 of report is damaged");
}

static void test_reports_in_use(void **state) {
    int fd, other;
    (void)state;
    assert_int_equal(journal_open("report", false, JOB, -1, NULL, &fd, &err), ST_OK);
    assert_string_equal(batch_test_read("report"), FIRST);
    assert_int_equal(journal_open("report", false, JOB, -1, NULL, &other, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "cannot make report: File exists; --resume continues it");
    assert_int_equal(resume(JOB), ST_ARGUMENT);
    assert_string_equal(err.text, "another batch writes report");
    close(fd);
    assert_int_equal(resume(JOB), ST_OK);
    assert_int_equal(unlink("report"), 0);
    assert_int_equal(resume(JOB), ST_OK);
    assert_string_equal(batch_test_read("report"), FIRST);
}

static void test_lines_that_cannot_be_written(void **state) {
    (void)state;
    const int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    assert_int_equal(journal_append(full, text_bytes("{}\n"), &err), ST_BUSY);
    assert_string_equal(err.text, "cannot write the report: No space left on device");
    close(full);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_lines),          IN_FOLDER(test_names),
        IN_FOLDER(test_states),         IN_FOLDER(test_answers_that_are_gone),
        IN_FOLDER(test_torn_lines),     IN_FOLDER(test_reports_that_are_refused),
        IN_FOLDER(test_reports_in_use), IN_FOLDER(test_lines_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
