/* SPDX-License-Identifier: MIT
 * Where the answers of a batch go. */
#include "server/batch/output.h"

#include "server/batch/destination.h"

#include "tests/unit/server/batch/batch_fixture.h"

static struct output output;
static struct error err;

static enum status open_output(const char *path, bool single) {
    err = (struct error){0};
    return output_open(&output, path, single, &err);
}

static void write_answer(unsigned long number, const char *text) {
    int fd;
    assert_int_equal(output_begin(&output, number, 0640, &fd, &err), ST_OK);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static bool is_there(const char *path) {
    struct stat file;
    return lstat(path, &file) == 0;
}

static void assert_name(const char *name, const char *type, const char *answer) {
    char made[PATH_MAX];
    assert_true(output_name(name, type, made));
    assert_string_equal(made, answer);
}

static void test_names(void **state) {
    static char longest[PATH_MAX];
    char made[PATH_MAX];
    (void)state;
    assert_name("a/b.jpg", "image/jpeg", "a/b.jpg");
    assert_name("b.JPEG", "IMAGE/JPEG", "b.JPEG");
    assert_name("b.jfif", "image/jpeg", "b.jfif");
    assert_name("b.png", "image/jpeg", "b.png.jpg");
    assert_name("b.heic", "image/jpeg", "b.heic.jpg");
    assert_name("b", "image/png", "b.png");
    assert_name(".png", "image/png", ".png.png");
    assert_name("a.png/b", "image/png", "a.png/b.png");
    assert_name("b.webp", "image/webp", "b.webp");
    assert_name("b.avif", "image/avif", "b.avif");
    assert_name("b.jpg", "application/json; charset=utf-8", "b.jpg.json");
    assert_name("b.jpg", "text/html", "b.jpg");
    assert_name("b.jpg", "", "b.jpg");
    assert_name("b.jpg", "image/../../x", "b.jpg");
    memset(longest, 'a', PATH_MAX - 4);
    assert_false(output_name(longest, "image/png", made));
    longest[PATH_MAX - 5] = '\0';
    assert_true(output_name(longest, "image/png", made));
}

static void test_folders(void **state) {
    (void)state;
    assert_int_equal(open_output("out", false), ST_OK);
    write_answer(0, "zero");
    write_answer(1, "one");
    write_answer(2, "two");
    assert_false(is_there("out/a.jpg"));
    assert_int_equal(output_sync(&output, &err), ST_OK);
    assert_int_equal(output_commit(&output, 0, "a.jpg", &err), ST_OK);
    assert_int_equal(output_commit(&output, 1, "b/c/d.jpg", &err), ST_OK);
    output_abandon(&output, 2);
    assert_string_equal(batch_test_read("out/a.jpg"), "zero");
    assert_string_equal(batch_test_read("out/b/c/d.jpg"), "one");
    write_answer(3, "three");
    assert_int_equal(output_commit(&output, 3, "a.jpg/e.jpg", &err), ST_BUSY); /* a file is in the way */
    assert_int_equal(output_commit(&output, 3, "b", &err), ST_BUSY);           /* a folder is */
    assert_int_equal(output_commit(&output, 3, "b/c/d.jpg", &err), ST_OK);
    assert_string_equal(batch_test_read("out/b/c/d.jpg"), "three");
    assert_int_equal(output_commit(&output, 99, "x", &err), ST_BUSY);
    output_finish(&output);
    assert_false(is_there("out/.blurd-partial"));
}

static void test_permissions(void **state) {
    struct stat file;
    int fd;
    (void)state;
    const mode_t mask = umask(022);
    assert_int_equal(open_output("out", false), ST_OK);
    assert_int_equal(output_begin(&output, 0, 04757, &fd, &err), ST_OK);
    assert_true(fstat(fd, &file) == 0 && (file.st_mode & 07777) == 0755);
    close(fd);
    assert_int_equal(output_begin(&output, 1, 0, &fd, &err), ST_OK);
    assert_true(fstat(fd, &file) == 0 && (file.st_mode & 07777) == 0600);
    close(fd);
    assert_int_equal(output_begin(&output, 1, 0, &fd, &err), ST_BUSY); /* nothing is written over */
    output_finish(&output);
    umask(mask);
}

static void test_what_is_left(void **state) {
    (void)state;
    batch_test_file("out/.blurd-partial/0", "half");
    batch_test_file("out/.blurd-partial/17", "half");
    batch_test_file("out/a.jpg", "whole");
    assert_int_equal(open_output("out/", false), ST_OK);
    assert_false(is_there("out/.blurd-partial/17"));
    write_answer(0, "zero");
    output_abandon(&output, 0);
    output_finish(&output);
    assert_string_equal(batch_test_read("out/a.jpg"), "whole");
}

static void test_refusals(void **state) {
    struct output other;
    (void)state;
    batch_test_file("file", "");
    assert_int_equal(open_output("file", false), ST_ARGUMENT);
    output_finish(&output);
    assert_int_equal(open_output("no/out", false), ST_ARGUMENT);
    assert_string_equal(err.text, "cannot make the folder no/out: No such file or directory");
    output_finish(&output);
    assert_int_equal(open_output("out", false), ST_OK);
    err = (struct error){0};
    assert_int_equal(output_open(&other, "out", false, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "another batch writes to out");
    output_finish(&other);
    output_finish(&output);
    assert_int_equal(mkdir("out", 0777) == 0 || errno == EEXIST, 1);
    assert_int_equal(symlink("../file", "out/.blurd-partial"), 0);
    assert_int_equal(open_output("out", false), ST_ARGUMENT);
    output_finish(&output);
    output_finish(&output);
}

static void test_single_files(void **state) {
    struct stat file;
    (void)state;
    batch_test_file("a.jpg", "old");
    batch_test_file("b.jpg", "other");
    assert_int_equal(open_output("a.jpg", true), ST_OK);
    write_answer(0, "new");
    assert_string_equal(batch_test_read("a.jpg"), "old");
    assert_true(stat("a.jpg", &file) == 0 && output_is(&output, "x", &file));
    assert_true(stat("b.jpg", &file) == 0 && !output_is(&output, "x", &file));
    assert_int_equal(output_commit(&output, 0, "x", &err), ST_OK);
    assert_string_equal(batch_test_read("a.jpg"), "new");
    output_finish(&output);
    assert_int_equal(open_output("sub/a.jpg", true), ST_ARGUMENT);
    assert_string_equal(err.text, "cannot open the folder of sub/a.jpg: No such file or directory");
    output_finish(&output);
}

/* The temporary names of two batches differ, also where their processes have the same number. */
static void test_two_single_files(void **state) {
    struct output other;
    int fd;
    (void)state;
    assert_int_equal(open_output("a.jpg", true), ST_OK);
    assert_int_equal(output_open(&other, "b.jpg", true, &err), ST_OK);
    write_answer(0, "a");
    assert_int_equal(output_begin(&other, 0, 0600, &fd, &err), ST_OK);
    close(fd);
    output_finish(&other);
    output_finish(&output);
}

static void assert_no_file(const char *path) {
    char sentence[200];
    assert_int_equal(open_output(path, true), ST_ARGUMENT);
    snprintf(sentence, sizeof sentence, "%s is no file; `-o -` is standard output", path);
    assert_string_equal(err.text, sentence);
    output_finish(&output);
}

static void test_no_files(void **state) {
    (void)state;
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("/dev/null", "null"), 0);
    assert_no_file("/dev/null");
    assert_no_file("null");
    assert_no_file("pipe");
    assert_no_file("folder");
    assert_no_file("folder/");
}

static void test_destinations(void **state) {
    struct destination destination;
    (void)state;
    batch_test_file("in", "input");
    const int in = open("in", O_RDONLY | O_CLOEXEC);
    for (int whole = 0; whole < 2; whole++) {
        assert_int_equal(destination_open(&destination, "out", &err), ST_OK);
        assert_int_equal(destination_spare(&destination, in, &err), ST_OK);
        assert_int_equal(write(destination.fd, "text", 4), 4);
        assert_int_equal(destination_finish(&destination, whole, &err), ST_OK);
        assert_string_equal(batch_test_read("out"), whole ? "text" : "");
        assert_int_equal(destination_finish(&destination, whole, &err), ST_OK);
    }
    assert_int_equal(link("in", "same"), 0);
    assert_int_equal(destination_open(&destination, "same", &err), ST_OK);
    assert_int_equal(destination_spare(&destination, in, &err), ST_ARGUMENT);
    assert_int_equal(destination_finish(&destination, false, &err), ST_OK);
    close(in);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, batch_test_enter, batch_test_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     IN_FOLDER(test_folders),  IN_FOLDER(test_permissions),
        IN_FOLDER(test_what_is_left),     IN_FOLDER(test_refusals), IN_FOLDER(test_single_files),
        IN_FOLDER(test_two_single_files), IN_FOLDER(test_no_files), IN_FOLDER(test_destinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
