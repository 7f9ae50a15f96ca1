/* SPDX-License-Identifier: MIT
 * Loading: every source, their precedence, and the sentence of each refusal. */
#include "tests/unit/config/config_fixture.h"

static void expect_refusal(const char *const *flags, const char *const *variables, const char *sentence) {
    struct world world;
    assert_int_equal(load(&world, flags, variables), ST_ARGUMENT);
    assert_string_equal(world.err.text, sentence);
}

/* The sentence after the file's name, which differs from run to run. */
static void expect_file_refusal(const char *text, size_t size, const char *after_path) {
    struct world world;
    assert_int_equal(load_file(&world, text, size), ST_ARGUMENT);
    if (!strstr(world.err.text, after_path)) {
        fail_msg("\"%s\" lacks \"%s\"", world.err.text, after_path);
    }
}

static void test_defaults(void **state) {
    (void)state;
    struct world world;
    assert_int_equal(load(&world, NULL, NULL), ST_OK);
    assert_int_equal(world.action, CONFIG_RUN);
    assert_string_equal(world.config.listen, "::");
    assert_int_equal(world.config.port, 8080);
    assert_int_equal(world.config.max_body, 20 * MIB);
    assert_int_equal(world.config.max_pixels, 64000000);
    assert_int_equal(world.config.idle_timeout_ms, 75000);
    assert_string_equal(world.config.token_file, "");
    assert_int_equal(world.config.log_level, CHOICE_log_level_info);
    assert_string_equal(config_choice_name(world.config.cpu_level), "auto");
    assert_true(CHOICE_log_level_error < CHOICE_log_level_debug);
}

/* Each row's default and bounds are accepted by its own parser and come back. */
static void test_every_row(void **state) {
    (void)state;
    size_t count;
    const struct option *rows = config_options(&count);
    assert_true(count > 15);
    for (size_t i = 0; i < count; i++) {
        struct config config;
        struct error err = {0};
        char text[OPTION_VALUE_MAX];
        char again[OPTION_VALUE_MAX];
        config_default(&config);
        option_format_initial(&rows[i], text);
        assert_int_equal(option_parse(&rows[i], text, &config, &err), ST_OK);
        option_format(&rows[i], &config, again);
        assert_string_equal(text, again);
        assert_true(strlen(rows[i].help) > 20 && strlen(rows[i].help) < 200);
        assert_null(strchr(rows[i].help, '|')); /* would break the Markdown table */
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(rows[i].name, rows[k].name);
        }
    }
}

static void test_flags(void **state) {
    (void)state;
    struct world world;
    assert_int_equal(load(&world, FLAGS("--max-body", "1MiB", "--port=0", "--log_level=debug"), NULL), ST_OK);
    assert_int_equal(world.config.max_body, MIB);
    assert_int_equal(world.config.port, 0);
    assert_int_equal(world.config.log_level, CHOICE_log_level_debug);
    assert_int_equal(load(&world, FLAGS("--token-file="), NULL), ST_OK);
    assert_int_equal(load(&world, FLAGS("--token-file=a=b"), NULL), ST_OK);
    assert_string_equal(world.config.token_file, "a=b");
    assert_int_equal(load(&world, FLAGS("--token-file", "--help"), NULL), ST_OK); /* a value, not a flag */
    assert_int_equal(world.action, CONFIG_RUN);
}

static void test_flag_refusals(void **state) {
    (void)state;
    expect_refusal(FLAGS("--port", "70000"), NULL,
                   "--port is \"70000\" (command line), it must be from 0 to 65535");
    expect_refusal(FLAGS("--port="), NULL, "--port is \"\" (command line), it must be from 0 to 65535");
    expect_refusal(FLAGS("--port"), NULL, "--port needs a value (command line)");
    expect_refusal(FLAGS("--port", "1", "--port=1"), NULL, "--port is given twice (command line)");
    expect_refusal(FLAGS("--max-body=1M", "--max_body=1M"), NULL, "--max_body is given twice (command line)");
    expect_refusal(FLAGS("--config", "a", "--config", "b"), NULL, "--config is given twice (command line)");
    expect_refusal(FLAGS("--prot", "1"), NULL,
                   "--prot (command line) is not an option, did you mean --port?");
    expect_refusal(FLAGS("--max-bdy=1"), NULL,
                   "--max-bdy (command line) is not an option, did you mean --max-body?");
    expect_refusal(FLAGS("--verison"), NULL,
                   "--verison (command line) is not an option, did you mean --version?");
    expect_refusal(FLAGS("photo.jpg"), NULL,
                   "\"photo.jpg\" (command line) is not an option, options start with --");
    expect_refusal(FLAGS("-p"), NULL, "\"-p\" (command line) is not an option, options start with --");
    expect_refusal(FLAGS("--log-format=xml"), NULL,
                   "--log-format is \"xml\" (command line), it must be one of text, json");
    expect_refusal(FLAGS("--port", "1\n2\x1b[31m"), NULL,
                   "--port is \"1?2?[31m\" (command line), it must be from 0 to 65535");
    expect_refusal(FLAGS("--port", "1234567890123456789012345678901234567890123456789012345"), NULL,
                   "--port is \"12345678901234567890123456789012345678901234...\" (command line), "
                   "it must be from 0 to 65535");
    expect_refusal(FLAGS("--max-body=128MiB", "--memory=64MiB"), NULL,
                   "max_body is 128MiB, it must be at most memory, which is 64MiB");
}

static void test_refusal_names_parameter(void **state) {
    (void)state;
    struct world world;
    assert_int_equal(load(&world, FLAGS("--max-body", "x"), NULL), ST_ARGUMENT);
    assert_string_equal(world.err.parameter, "max_body");
    assert_int_equal(load(&world, FLAGS("--nonsense"), NULL), ST_ARGUMENT);
    assert_string_equal(world.err.parameter, "");
}

static void test_environment(void **state) {
    (void)state;
    struct world world;
    assert_int_equal(load(&world, NULL, FLAGS("BLURD_MAX_BODY=2MiB", "HOME=/", "BLURD", "PORT=81")), ST_OK);
    assert_int_equal(world.config.max_body, 2 * MIB);
    assert_int_equal(world.config.port, 81);
    assert_int_equal(load(&world, NULL, FLAGS("BLURD_PORT=82", "PORT=81")), ST_OK);
    assert_int_equal(world.config.port, 82);
    expect_refusal(NULL, FLAGS("BLURD_PORT=-1"),
                   "BLURD_PORT is \"-1\" (environment), it must be from 0 to 65535");
    expect_refusal(NULL, FLAGS("PORT="), "PORT is \"\" (environment), it must be from 0 to 65535");
    expect_refusal(NULL, FLAGS("BLURD_MAXBODY=1"),
                   "BLURD_MAXBODY (environment) is not an option, did you mean BLURD_MAX_BODY?");
    expect_refusal(NULL, FLAGS("BLURD_port=1"),
                   "BLURD_port (environment) is not an option, did you mean BLURD_PORT?");
    expect_refusal(NULL, FLAGS("BLURD_=1"),
                   "BLURD_ (environment) is not an option, did you mean BLURD_PORT?");
    expect_refusal(NULL, FLAGS("BLURD_CONFIGS=1"),
                   "BLURD_CONFIGS (environment) is not an option, did you mean BLURD_CONFIG?");
}

/* Variables that Kubernetes sets in every pod for services called blurd and blurd-canary. */
static void test_service_links(void **state) {
    (void)state;
    struct world world;
    assert_int_equal(
        load(&world, NULL,
             FLAGS("BLURD_SERVICE_HOST=10.0.0.1", "BLURD_SERVICE_PORT=80", "BLURD_SERVICE_PORT_HTTP=80",
                   "BLURD_PORT=tcp://10.0.0.1:80", "BLURD_PORT_80_TCP=tcp://10.0.0.1:80",
                   "BLURD_PORT_80_TCP_PROTO=tcp", "BLURD_PORT_80_TCP_PORT=80",
                   "BLURD_PORT_80_TCP_ADDR=10.0.0.1", "BLURD_CANARY_SERVICE_HOST=10.0.0.2",
                   "BLURD_CANARY_PORT=tcp://10.0.0.2:80", "BLURD_CANARY_PORT_80_TCP_ADDR=10.0.0.2")),
        ST_OK);
    assert_int_equal(world.config.port, 8080);
}

static void test_file(void **state) {
    (void)state;
    static const char text[] = "# comment\r\n\n  max-body = 3MiB   # trailing\r\nport=0\n"
                               "\ttoken_file = /run/a#b\nlog_level\t=\tdebug";
    struct world world;
    assert_int_equal(load_file(&world, text, sizeof text - 1), ST_OK);
    assert_int_equal(world.config.max_body, 3 * MIB);
    assert_int_equal(world.config.port, 0);
    assert_string_equal(world.config.token_file, "/run/a#b");
    assert_int_equal(world.config.log_level, CHOICE_log_level_debug);
    assert_int_equal(load_file(&world, "", 0), ST_OK);
    assert_int_equal(load_file(&world, "\n", 1), ST_OK);
}

#define FILE_REFUSAL(text, sentence) expect_file_refusal(text, sizeof text - 1, sentence)

static void test_file_refusals(void **state) {
    (void)state;
    FILE_REFUSAL("port = 1\nport = 2\n", ", in line 1 and line 2");
    FILE_REFUSAL("max-body = 1M\nmax_body = 1M\n", "max_body stands twice in /tmp/test_config.");
    FILE_REFUSAL("\nport = x", " line 2), it must be from 0 to 65535");
    FILE_REFUSAL("prot = 1", " line 1) is not an option, did you mean port?");
    FILE_REFUSAL("config = a", " is not an option, did you mean ");
    FILE_REFUSAL("port 1", " line 1 is \"port 1\", it must be `key = value`");
    FILE_REFUSAL("= 1", " line 1 is \"= 1\", it must be `key = value`");
    FILE_REFUSAL("port = 1\0"
                 "2",
                 " line 1 has a zero byte, it must be text");
    FILE_REFUSAL("port = 1\n\0", " line 2 has a zero byte, it must be text");
    FILE_REFUSAL("\x1b[2J", " line 1 is \"?[2J\"");
}

static void test_hostile_files(void **state) {
    (void)state;
    size_t size = 70000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    expect_file_refusal(text, 2048, " line 1 is \"aaaa");
    expect_file_refusal(text, 2049, " line 1 is longer than 2048 bytes");
    expect_file_refusal(text, size, " is larger than 65536 bytes");
    memset(text, '\n', size);
    struct world world;
    assert_int_equal(load_file(&world, text, 65536), ST_OK);
    free(text);
    expect_refusal(FLAGS("--config=/dev/zero"), NULL,
                   "cannot read the configuration file /dev/zero: it is larger than 65536 bytes");
    expect_refusal(FLAGS("--config=/tmp"), NULL, "cannot read the configuration file /tmp: Is a directory");
    expect_refusal(FLAGS("--config=/no/such"), NULL,
                   "cannot read the configuration file /no/such: No such file or directory");
    expect_refusal(NULL, FLAGS("BLURD_CONFIG=/no/such"),
                   "cannot read the configuration file /no/such: No such file or directory");
}

/* Random bytes give one of two statuses and never a crash. */
static void test_random_files(void **state) {
    (void)state;
    static const char alphabet[] = "port=max_body 0123456789#\n\r\t\0-\xff";
    unsigned seed = 20240501;
    for (int round = 0; round < 300; round++) {
        char text[200];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        struct world world;
        enum status status = load_file(&world, text, sizeof text);
        assert_true(status == ST_OK || (status == ST_ARGUMENT && *world.err.text));
    }
}

static void test_precedence(void **state) {
    (void)state;
    char path[32];
    char variable[64];
    write_file(path, "port = 1\nqueue = 1\nworkers = 1\n", 31);
    snprintf(variable, sizeof variable, "BLURD_CONFIG=%s", path);
    const char *const variables[] = {variable, "BLURD_QUEUE=2", "BLURD_WORKERS=2", NULL};
    struct world world;
    assert_int_equal(load(&world, FLAGS("--workers", "3"), variables), ST_OK);
    assert_int_equal(world.config.port, 1);
    assert_int_equal(world.config.queue, 2);
    assert_int_equal(world.config.workers, 3);
    assert_int_equal(world.config.connections, 1024);
    /* the flag names another file than the variable; a weaker source is still checked */
    assert_int_equal(load(&world, FLAGS("--config=/dev/null"), variables), ST_OK);
    assert_int_equal(world.config.port, 8080);
    assert_int_equal(load(&world, FLAGS("--port", "5"), FLAGS("BLURD_PORT=x")), ST_ARGUMENT);
    assert_int_equal(load(&world, FLAGS("--port", "5"), FLAGS("PORT=6")), ST_OK);
    assert_int_equal(world.config.port, 5);
    unlink(path);
}

static void test_actions(void **state) {
    (void)state;
    struct world world;
    size_t count;
    const struct config_flag *flags = config_flags(&count);
    for (size_t i = 0; i < count; i++) {
        char flag[64];
        snprintf(flag, sizeof flag, "--%s", flags[i].flag);
        assert_int_equal(load(&world, FLAGS(flag), NULL), ST_OK);
        assert_int_equal(world.action, flags[i].action);
        bool last = flags[i].action == CONFIG_BENCHMARK; /* files stand behind it */
        assert_int_equal(load(&world, last ? FLAGS("--port", "x", flag) : FLAGS(flag, "--port", "x"), NULL),
                         flags[i].needs_options ? ST_ARGUMENT : ST_OK);
    }
    assert_int_equal(load(&world, FLAGS("-h"), NULL), ST_OK);
    assert_int_equal(world.action, CONFIG_HELP);
    assert_int_equal(load(&world, FLAGS("--port", "9", "--benchmark", "--file", "b"), NULL), ST_OK);
    assert_int_equal(world.config.port, 9);
    /* help works with a broken environment, a check does not */
    assert_int_equal(load(&world, FLAGS("--help"), FLAGS("BLURD_PORT=x")), ST_OK);
    assert_int_equal(load(&world, FLAGS("--check-config"), FLAGS("BLURD_PORT=x")), ST_ARGUMENT);
    assert_int_equal(load(&world, FLAGS("--check-config", "--port", "99999"), NULL), ST_ARGUMENT);
    assert_int_equal(load(&world, FLAGS("--check-health"), FLAGS("BLURD_PORT=9000")), ST_OK);
    assert_int_equal(world.config.port, 9000);
    assert_int_equal(load(&world, FLAGS("--check-health"), FLAGS("BLURD_PORT=x")), ST_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_flag_refusals),
        cmocka_unit_test(test_refusal_names_parameter),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_service_links),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_refusals),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_random_files),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_actions),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
