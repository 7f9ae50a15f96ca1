/* SPDX-License-Identifier: MIT
 * The files that a batch takes, and which of them are pictures. */
#include "server/batch/input/source.h"

#include "server/batch/input/originals.h"
#include "server/batch/input/picture_names.h"

#include "tests/unit/server/batch/batch_fixture.h"

static char all[1 << 16];
static struct error err;

/* All that is found: "path>name " or "path!problem; ". */
static const char *walk(const struct source_options *options) {
    static struct input input;
    struct input_source *source;
    size_t at = 0;
    assert_int_equal(source_create(&source, options, &err), ST_OK);
    all[0] = '\0';
    while (source_next(source, &input)) {
        const char *problem = input.problem;
        at += (size_t)snprintf(all + at, sizeof all - at,
                               *problem      ? "%s!%s; "
                               : input.other ? "%s>%s? "
                                             : "%s>%s ",
                               input.path, *problem ? problem : input.name);
    }
    source_destroy(source);
    return all;
}

static const char *walk_one(const char *operand) {
    return walk(
        &(struct source_options){.operand = (const char *[]){operand}, .operands = 1, .recursive = true});
}

static const char *walk_list(const char *text, size_t size, char ends) {
    char copy[16384];
    memcpy(copy, text, size);
    FILE *list = fmemopen(copy, size, "r");
    walk(&(struct source_options){.list = list, .ends = ends});
    fclose(list);
    return all;
}

static void test_order(void **state) {
    (void)state;
    batch_test_file("in/b.jpg", "");
    batch_test_file("in/a/z.jpg", "");
    batch_test_file("in/a/a.jpg", "");
    batch_test_file("in/c/d/e.jpg", "");
    batch_test_file("in/B.jpg", "");
    static const char sorted[] = "in/B.jpg>B.jpg in/a/a.jpg>a/a.jpg in/a/z.jpg>a/z.jpg in/b.jpg>b.jpg "
                                 "in/c/d/e.jpg>c/d/e.jpg ";
    assert_string_equal(walk_one("in"), sorted);
    assert_string_equal(walk_one("in/"), sorted);
    assert_string_equal(walk_one("./in//") + 0,
                        "./in//B.jpg>B.jpg ./in//a/a.jpg>a/a.jpg ./in//a/z.jpg>a/z.jpg "
                        "./in//b.jpg>b.jpg ./in//c/d/e.jpg>c/d/e.jpg ");
    assert_string_equal(walk_one("in/c/d/e.jpg"), "in/c/d/e.jpg>e.jpg ");
}

static void test_several_operands(void **state) {
    (void)state;
    batch_test_file("a/x.jpg", "");
    batch_test_file("b/c/x.jpg", "");
    batch_test_file("y.jpg", "");
    const char *const operand[] = {"y.jpg", "b/c/", "a", "..", "b/c/x.jpg"};
    const struct source_options options = {.operand = operand, .operands = 5, .recursive = true};
    assert_string_equal(walk(&options), "y.jpg>y.jpg b/c/x.jpg>c/x.jpg a/x.jpg>a/x.jpg "
                                        "..!its name would lead out of the output; b/c/x.jpg>x.jpg ");
}

static void test_links(void **state) {
    (void)state;
    batch_test_file("in/a.jpg", "");
    batch_test_file("other/b.jpg", "");
    assert_int_equal(symlink("../other/b.jpg", "in/file"), 0);
    assert_int_equal(symlink("../other", "in/folder"), 0);
    assert_int_equal(symlink(".", "in/loop"), 0);
    assert_int_equal(symlink("self", "in/self"), 0);
    assert_int_equal(symlink("nowhere", "in/nowhere"), 0);
    assert_int_equal(mkfifo("in/pipe", 0600), 0);
    assert_string_equal(walk_one("in"), "in/a.jpg>a.jpg in/file>file in/folder>folder? in/loop>loop? "
                                        "in/nowhere>nowhere? in/pipe>pipe? in/self>self? ");
    assert_string_equal(walk_one("in/folder"), "in/folder/b.jpg>b.jpg "); /* it was named */
}

static void test_what_is_skipped(void **state) {
    struct stat out;
    (void)state;
    batch_test_file("in/a.jpg", "");
    batch_test_file("in/sub/out/a.jpg", "");
    batch_test_file("in/.blurd-partial/0", "");
    batch_test_file("in/sub/.blurd-partial/0", "");
    assert_int_equal(stat("in/sub/out", &out), 0);
    assert_string_equal(
        walk(&(struct source_options){
            .operand = (const char *[]){"in"}, .operands = 1, .recursive = true, .skipped = out}),
        "in/a.jpg>a.jpg ");
}

static void test_unreadable_folders(void **state) {
    (void)state;
    batch_test_file("in/a.jpg", "");
    batch_test_file("in/b/a.jpg", "");
    batch_test_file("in/c/a.jpg", "");
    assert_int_equal(chmod("in/b", 0), 0);
    if (access("in/b", R_OK) != 0) { /* not as root */
        assert_string_equal(
            walk_one("in"),
            "in/a.jpg>a.jpg in/b!the folder cannot be read: Permission denied; in/c/a.jpg>c/a.jpg ");
    }
    assert_int_equal(chmod("in/b", 0700), 0);
}

static void test_operands_that_are_refused(void **state) {
    struct input_source *source = NULL;
    (void)state;
    batch_test_file("in/a.jpg", "");
    const char *const operand[] = {"in", "nothing"};
    struct source_options options = {.operand = operand, .operands = 1};
    assert_int_equal(source_create(&source, &options, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "in is a folder: --recursive takes what is in it");
    options = (struct source_options){.operand = operand, .operands = 2, .recursive = true};
    err = (struct error){0};
    assert_int_equal(source_create(&source, &options, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "nothing: No such file or directory");
    source_destroy(NULL);
}

#define LIST(text, ends) walk_list(text, sizeof(text) - 1, ends)

static void test_lists(void **state) {
    (void)state;
    assert_string_equal(LIST("a.jpg\nb c/d.jpg\n/e/f.jpg\n./g\n././/h", '\n'),
                        "a.jpg>a.jpg b c/d.jpg>b c/d.jpg /e/f.jpg>e/f.jpg ./g>g ././/h>h ");
    assert_string_equal(LIST("a\nb\0c\0\0d", '\0'), "a\nb>a\nb c>c !a name of the list is empty; d>d ");
    assert_string_equal(LIST("a\n\nb\n", '\n'), "a>a !a name of the list is empty; b>b ");
    assert_string_equal(LIST("./\n/\n", '\n'),
                        "./!a name of the list is empty; /!a name of the list is empty; ");
    assert_string_equal(LIST("a..b/..c/d..\n", '\n'), "a..b/..c/d..>a..b/..c/d.. ");
}

static void test_lists_that_lead_out(void **state) {
    static const char *const names[] = {"../a", "a/../../b", "/../a", "a/..", "..", ".//../a"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char wanted[100];
        snprintf(wanted, sizeof wanted, "%s!its name would lead out of the output; ", names[i]);
        assert_string_equal(walk_list(names[i], strlen(names[i]), '\n'), wanted);
    }
    assert_string_equal(LIST(".blurd-partial/0\n/.blurd-partial\n.blurd-partial0\n", '\n'),
                        ".blurd-partial/0!its name is that of the folder for temporary files; "
                        "/.blurd-partial!its name is that of the folder for temporary files; "
                        ".blurd-partial0>.blurd-partial0 ");
}

static void test_long_and_damaged_lists(void **state) {
    static char text[10000];
    (void)state;
    memset(text, 'a', sizeof text);
    text[PATH_MAX - 1] = '\n';
    text[2 * PATH_MAX] = '\n';
    text[2 * PATH_MAX + 2] = '\0';
    text[2 * PATH_MAX + 5] = '\n';
    text[2 * PATH_MAX + 6] = '\n';
    walk_list(text, 2 * PATH_MAX + 7, '\n');
    assert_int_equal(strspn(all, "a"), PATH_MAX - 1);
    const char *second = strchr(all, ' ') + 1;
    assert_int_equal(strspn(second, "a"), PATH_MAX - 1);
    assert_string_equal(second + PATH_MAX - 1, "!its name is too long; "
                                               "a!a name of the list has a zero byte: is --null meant?; "
                                               "!a name of the list is empty; " +
                                                   0);
}

/* Deeper than paths may be long, and than folders may be in each other. */
static void test_deep_folders(void **state) {
    char name[201];
    (void)state;
    memset(name, 'n', sizeof name);
    name[200] = '\0';
    assert_int_equal(mkdir("in", 0700), 0);
    const int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir("in"), 0);
    for (int i = 0; i < 30; i++) {
        assert_true(mkdir(name, 0700) == 0 && chdir(name) == 0);
    }
    assert_int_equal(fchdir(here), 0);
    assert_non_null(strstr(walk_one("in"), "!a name in it is too long; "));
    assert_int_equal(mkdir("flat", 0700), 0);
    assert_int_equal(chdir("flat"), 0);
    for (int i = 0; i < 300; i++) {
        assert_true(mkdir("d", 0700) == 0 && chdir("d") == 0);
    }
    assert_int_equal(fchdir(here), 0);
    assert_non_null(strstr(walk_one("flat"), "!there are more than 256 folders in each other; "));
    close(here);
}

static bool fits(const char *name, const char *text, size_t size) {
    FILE *data = tmpfile();
    assert_non_null(data);
    assert_int_equal(fwrite(text, 1, size, data), size);
    assert_int_equal(fflush(data), 0);
    const bool fit = picture_names_fit(fileno(data), name);
    fclose(data);
    return fit;
}

static void test_picture_names(void **state) {
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", jpeg[] = "\xff\xd8\xff\xe0";
    (void)state;
    assert_true(fits("a.jpg", "", 0));
    assert_true(fits("a/b.JPeG", "x", 1));
    assert_true(fits("b.heic", "x", 1));
    assert_false(fits("a.txt", "text", 4));
    assert_false(fits("a.jpg/b", "x", 1));
    assert_false(fits("jpg", "x", 1));
    assert_false(fits("a.jpgx", "x", 1));
    assert_true(fits("a.txt", png, sizeof png));
    assert_true(fits("a", jpeg, sizeof jpeg));
    assert_false(fits("a/._b.jpg", "\0\5\x16\7", 4)); /* attributes of macOS */
    assert_true(fits("._b.jpg", png, sizeof png));
    assert_false(fits("", "", 0));
}

static void test_originals(void **state) {
    struct originals none = {0}, some;
    const char *const operand[] = {"a.jpg", "in", "nothing"};
    (void)state;
    batch_test_file("a.jpg", "");
    batch_test_file("b.jpg", "");
    batch_test_file("in/sub/c.jpg", "");
    batch_test_file("out/in/c.jpg", "");
    assert_int_equal(symlink("../in", "out/link"), 0);
    const int root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
              out = open("out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(originals_create(&some, operand, 3, &err), ST_OK);
    assert_false(originals_have(&none, root, "a.jpg"));
    assert_true(originals_have(&some, root, "a.jpg"));
    assert_false(originals_have(&some, root, "b.jpg"));
    assert_true(originals_have(&some, root, "in/sub/c.jpg"));
    assert_false(originals_have(&some, root, "in/sub/new.jpg"));
    assert_false(originals_have(&some, out, "in/c.jpg"));
    assert_true(originals_have(&some, out, "link/sub/c.jpg"));
    originals_finish(&some);
    originals_finish(&none);
    close(root);
    close(out);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, batch_test_enter, batch_test_leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_order),
        IN_FOLDER(test_several_operands),
        IN_FOLDER(test_links),
        IN_FOLDER(test_what_is_skipped),
        IN_FOLDER(test_unreadable_folders),
        IN_FOLDER(test_operands_that_are_refused),
        IN_FOLDER(test_lists),
        IN_FOLDER(test_lists_that_lead_out),
        IN_FOLDER(test_long_and_damaged_lists),
        IN_FOLDER(test_deep_folders),
        IN_FOLDER(test_picture_names),
        IN_FOLDER(test_originals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
