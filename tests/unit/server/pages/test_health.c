/* SPDX-License-Identifier: MIT
 * Which configuration a health check without options takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/pages/health.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static char port[] = "BLURD_PORT=7000", admin_port[] = "BLURD_ADMIN_PORT=7001";
static char *const variables[] = {port, admin_port, NULL};

/* The result of health_config for a process with these arguments, each ended by a zero. */
static enum status load(struct config *config, const char *arguments, size_t size, struct error *err) {
    char path[] = "/tmp/blurd-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, arguments, size), size);
    close(fd);
    config_default(config);
    *err = (struct error){0};
    enum status status = health_config(config, path, variables, err);
    unlink(path);
    return status;
}
#define LOAD(config, arguments, err) load(config, arguments, sizeof(arguments), err)

static void test_of_the_daemon(void **state) {
    (void)state;
    struct config config;
    struct error err;
    assert_int_equal(LOAD(&config,
                          "/usr/local/bin/blurd\0--port\0"
                          "9000",
                          &err),
                     ST_OK);
    assert_int_equal(config.port, 9000);
    assert_int_equal(config.admin_port, 7001);
    assert_int_equal(LOAD(&config, "blurd", &err), ST_OK);
    assert_int_equal(config.port, 7000);
    assert_int_equal(LOAD(&config, "/sbin/docker-init\0--\0/usr/local/bin/blurd\0--port=9001", &err), ST_OK);
    assert_int_equal(config.port, 9001);
}

static void test_of_another_program(void **state) {
    (void)state;
    struct config config;
    struct error err;
    assert_int_equal(LOAD(&config,
                          "/sbin/init\0--port\0"
                          "9000",
                          &err),
                     ST_OK);
    assert_int_equal(config.port, 8080);
    assert_int_equal(LOAD(&config,
                          "grep\0blurd\0--port\0"
                          "9000",
                          &err),
                     ST_OK);
    assert_int_equal(config.port, 8080);
    assert_int_equal(load(&config, "", 0, &err), ST_OK);
    assert_int_equal(config.port, 8080);
    assert_int_equal(health_config(&config, "/nonexistent", variables, &err), ST_OK);
    assert_int_equal(config.port, 8080);
}

/* A daemon with such arguments does not run, so this is a sentence and no guess. */
static void test_wrong(void **state) {
    (void)state;
    struct config config;
    struct error err;
    assert_int_equal(LOAD(&config, "blurd\0--port\0x", &err), ST_ARGUMENT);
    assert_string_equal(err.parameter, "port");
}

/* Longer arguments are cut, and nothing behind the limit is read. */
static void test_too_long(void **state) {
    (void)state;
    struct config config;
    struct error err;
    enum { SIZE = 200 << 10 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i++) {
        text[i] = i < 6 ? "blurd"[i] : i % 2 ? 'x' : '\0';
    }
    assert_int_equal(load(&config, text, SIZE, &err), ST_ARGUMENT);
    for (size_t i = 6; i < SIZE; i++) {
        text[i] = 'x';
    }
    assert_int_equal(load(&config, text, SIZE, &err), ST_ARGUMENT);
    free(text);
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_of_the_daemon),
        cmocka_unit_test(test_of_another_program),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
