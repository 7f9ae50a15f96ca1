/* SPDX-License-Identifier: MIT
 * The command line of a batch. */
#include "config/job/job.h"

#include "tests/unit/server/batch/batch_fixture.h"

static struct job_line line;
static struct error err;

/* Parses words that are separated by blanks, behind "blurd". */
static enum status parse(const char *text) {
    static char words[4096];
    static char *argv[300];
    int argc = 0;
    job_finish(&line);
    err = (struct error){0};
    snprintf(words, sizeof words, "blurd %s", text);
    for (char *at = words; at;) {
        argv[argc++] = at;
        at = strchr(at, ' ');
        if (at) {
            *at++ = '\0';
        }
    }
    return job_parse(&line, argc, argv, &err);
}

static void assert_refused(const char *text, const char *sentence) {
    assert_int_equal(parse(text), ST_ARGUMENT);
    assert_string_equal(err.text, sentence);
}

static void test_forms(void **state) {
    static const char *const forms[] = {"-o out", "-oout", "--output=out", "--output out"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[64];
        snprintf(text, sizeof text, "run blur a.jpg %s b.jpg", forms[i]);
        assert_int_equal(parse(text), ST_OK);
        assert_string_equal(line.job, "blur");
        assert_string_equal(line.options.output, "out");
        assert_int_equal(line.operands, 2);
        assert_string_equal(line.operand[1], "b.jpg");
    }
}

static void test_letters(void **state) {
    (void)state;
    assert_int_equal(parse("run -rkq blur in -j12 -oa=b"), ST_OK);
    assert_true(line.options.recursive && line.options.keep_going && line.options.quiet);
    assert_false(line.options.tar || line.options.null);
    assert_int_equal(line.options.in_flight, 12);
    assert_string_equal(line.options.output, "a=b");
    assert_int_equal(parse("run blur -0tnT - -ko-"), ST_OK);
    assert_true(line.options.null && line.options.tar && line.options.dry_run && line.options.keep_going);
    assert_string_equal(line.options.files_from, "-");
    assert_string_equal(line.options.output, "-");
}

static void test_initial_values(void **state) {
    (void)state;
    assert_int_equal(parse("run blur"), ST_OK);
    assert_false(line.options.hash);
    assert_int_equal(line.options.tries, 5);
    assert_int_equal(line.operands, 0);
    assert_int_equal(parse("run blur --hash --quiet=true --copy-others --keep-going=false"), ST_OK);
    assert_true(line.options.hash);
    assert_false(line.options.keep_going);
    assert_true(line.options.quiet && line.options.copy_others);
}

static void test_end_of_options(void **state) {
    (void)state;
    assert_int_equal(parse("run blur -- -r --output -- a"), ST_OK);
    assert_int_equal(line.operands, 4);
    assert_string_equal(line.operand[2], "--");
    assert_false(line.options.recursive);
    assert_int_equal(parse("run -- -x"), ST_OK);
    assert_string_equal(line.job, "-x");
    assert_int_equal(parse("run blur -"), ST_OK);
    assert_string_equal(line.operand[0], "-");
}

static void test_without_the_word_run(void **state) {
    (void)state;
    assert_int_equal(parse("blur?sigma=3 run"), ST_OK);
    assert_string_equal(line.job, "blur?sigma=3");
    assert_string_equal(line.operand[0], "run");
}

static void test_refusals(void **state) {
    (void)state;
    assert_refused("run", "run needs a job, such as 'redact?detect=faces,text'");
    assert_refused("run blur -rx", "-x is not an option");
    assert_refused("run blur --recursiv", "--recursiv is not an option, did you mean --recursive?");
    assert_refused("run blur --file-from=x", "--file-from=x is not an option, did you mean --files-from?");
    assert_refused("run blur --wrkers=2", "--wrkers=2 is not an option, did you mean --workers?");
    assert_refused("run blur -r --recursive", "--recursive is given twice");
    assert_refused("run blur -oa -o b", "--output is given twice");
    assert_refused("run blur -ro", "-o needs a value");
    assert_refused("run blur --output", "--output needs a value");
    assert_refused("run blur --workers", "--workers needs a value");
    assert_int_equal(parse("run blur -j 513"), ST_ARGUMENT);
    assert_int_equal(parse("run blur -j x"), ST_ARGUMENT);
    assert_int_equal(parse("run blur --tries 0"), ST_ARGUMENT);
    assert_int_equal(parse("run blur --quiet=maybe"), ST_ARGUMENT);
    assert_int_equal(parse("run blur --c=x"), ST_ARGUMENT);
    assert_int_equal(parse("run blur --=x"), ST_ARGUMENT);
    assert_int_equal(parse("run blur --configs=x"), ST_ARGUMENT);
}

static void test_options_of_the_daemon(void **state) {
    (void)state;
    assert_int_equal(parse("run --workers 2 blur a --gpus=none --config x -o out"), ST_OK);
    const char *const words[] = {"blurd", "--workers", "2", "--gpus=none", "--config", "x"};
    assert_int_equal(line.daemon_words, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(line.daemon[i], words[i]);
    }
    assert_string_equal(line.job, "blur");
    assert_int_equal(line.operands, 1);
}

static void test_many_words(void **state) {
    (void)state;
    char text[4096] = "run blur";
    for (unsigned i = 0; i < JOB_WORDS_MAX - 1; i++) {
        snprintf(text + strlen(text), 10, " --port=1");
    }
    assert_int_equal(parse(text), ST_OK);
    assert_int_equal(line.daemon_words, JOB_WORDS_MAX);
    snprintf(text + strlen(text), 10, " --port=1");
    assert_refused(text, "more than 256 words of options");
}

static bool is_blur(const char *name, size_t length) {
    return length == 4 && memcmp(name, "blur", 4) == 0;
}

static void test_which_lines_are_jobs(void **state) {
    char program[] = "blurd", run[] = "run", job[] = "blur?a", other[] = "blurred", action[] = "verify",
         option[] = "--port";
    (void)state;
    assert_true(job_is_asked(2, (char *[]){program, run}, is_blur));
    assert_true(job_is_asked(2, (char *[]){program, job}, is_blur));
    assert_true(job_is_asked(2, (char *[]){program, other}, is_blur)); /* to be told that it is none */
    assert_false(job_is_asked(2, (char *[]){program, action}, is_blur));
    assert_false(job_is_asked(2, (char *[]){program, option}, is_blur));
    assert_false(job_is_asked(1, (char *[]){program}, is_blur));
}

static int end(void **state) {
    (void)state;
    job_finish(&line);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_end_of_options),
        cmocka_unit_test(test_without_the_word_run),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_options_of_the_daemon),
        cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_which_lines_are_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
