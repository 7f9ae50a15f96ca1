/* SPDX-License-Identifier: MIT
 * Everything that the configuration prints: help, pages, the example, the effective settings. Runs in the
 * root of the repository, as it reads the generated pages. */
#include "tests/unit/config/config_fixture.h"

/* The output of an action, zero-terminated; the caller frees it. */
static char *printed(enum config_action action, const struct config *config) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(config_answer(action, config, "blurd 1.2.3", out), 0);
    fclose(out);
    return text;
}

static void test_dump_loads_again(void **state) {
    (void)state;
    struct world world;
    struct world again;
    assert_int_equal(load(&world,
                          FLAGS("--max-body=1234567", "--idle-timeout=1500ms", "--listen=127.0.0.1",
                                "--token-file=/run/secret", "--log-format=json", "--max-pixels=123456"),
                          NULL),
                     ST_OK);
    char *text = printed(CONFIG_CHECK, &world.config);
    assert_int_equal(load_file(&again, text, strlen(text)), ST_OK);
    assert_memory_equal(&world.config, &again.config, sizeof world.config);
    free(text);
}

static void expect_file_is(const char *path, const char *text) {
    FILE *file = fopen(path, "re");
    if (!file) {
        fail_msg("%s cannot be read; tests run in the root of the repository", path);
        return;
    }
    char *content = calloc(1, 65536);
    assert_non_null(content);
    assert_true(fread(content, 1, 65535, file) > 0);
    fclose(file);
    if (strcmp(content, text) != 0) {
        fail_msg("%s is not what the table says; run `make docs`", path);
    }
    free(content);
}

static void test_pages_are_current(void **state) {
    (void)state;
    struct config config;
    config_default(&config);
    char *text = printed(CONFIG_HELP_MARKDOWN, &config);
    expect_file_is("docs/configuration.md", text);
    free(text);
    text = printed(CONFIG_HELP_FILE, &config);
    expect_file_is("config/blurd.conf", text);
    free(text);
}

/* The example sets nothing as it is, and with every comment sign removed the defaults. */
static void test_example_file(void **state) {
    (void)state;
    struct world world;
    struct config config;
    config_default(&config);
    char *text = printed(CONFIG_HELP_FILE, &config);
    assert_int_equal(load_file(&world, text, strlen(text)), ST_OK);
    size_t set = 0;
    for (char *p = text; (p = strstr(p, "\n#")); p += 2) {
        if (p[2] != ' ') {
            p[1] = ' ';
            set++;
        }
    }
    size_t count;
    (void)config_options(&count);
    assert_int_equal(set, count);
    assert_int_equal(load_file(&world, text, strlen(text)), ST_OK);
    assert_memory_equal(&world.config, &config, sizeof config);
    free(text);
}

static void test_help(void **state) {
    (void)state;
    struct config config;
    config_default(&config);
    char *text = printed(CONFIG_HELP, &config);
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        char flag[64];
        snprintf(flag, sizeof flag, "  --%s ", rows[i].name);
        for (char *p = flag; *p; p++) {
            *p = *p == '_' ? '-' : *p;
        }
        assert_non_null(strstr(text, flag));
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    free(text);
    text = printed(CONFIG_VERSION, &config);
    assert_string_equal(text, "blurd 1.2.3\n");
    free(text);
}

static void test_full_disk(void **state) {
    (void)state;
    struct config config;
    config_default(&config);
    FILE *out = fopen("/dev/full", "we");
    if (!out) {
        skip();
    }
    assert_int_equal(config_answer(CONFIG_CHECK, &config, "", out), 1);
    fclose(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dump_loads_again), cmocka_unit_test(test_pages_are_current),
        cmocka_unit_test(test_example_file),     cmocka_unit_test(test_help),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests_name("config_print", tests, NULL, NULL);
}
