/* SPDX-License-Identifier: MIT
 * Options that only go together, and which file is read. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define WORDS(...) ((char *const *)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

static enum status load(char *const *words, struct error *err) {
    static struct config config;
    enum config_action action;
    int count = 0;
    while (words[count]) {
        count++;
    }
    *err = (struct error){0};
    return config_load(&config, &action, count, words, &words[count], err);
}

static void expect_refusal(char *const *words, const char *parameter, const char *sentence) {
    struct error err;
    assert_int_equal(load(words, &err), ST_ARGUMENT);
    assert_string_equal(err.parameter, parameter);
    assert_string_equal(err.text, sentence);
}

static void test_certificate_and_key(void **state) {
    (void)state;
    struct error err;
    expect_refusal(WORDS("blurd", "--tls-cert", "a"), "tls_key",
                   "tls_key is empty: tls_cert and tls_key go together");
    expect_refusal(WORDS("blurd", "--tls-key", "a"), "tls_cert",
                   "tls_cert is empty: tls_cert and tls_key go together");
    assert_int_equal(load(WORDS("blurd", "--tls-key", "a", "--tls-cert=b"), &err), ST_OK);
}

static void test_sandbox_and_single_process(void **state) {
    (void)state;
    struct error err;
    expect_refusal(WORDS("blurd", "--sandbox", "on", "--single-process", "yes"), "sandbox",
                   "sandbox is on, which does not go with single_process");
    assert_int_equal(load(WORDS("blurd", "--single-process", "yes"), &err), ST_OK);
    assert_int_equal(load(WORDS("blurd", "--sandbox", "on"), &err), ST_OK);
}

static void test_which_file(void **state) {
    (void)state;
    char *const *flag = WORDS("blurd", "--port", "1", "--config", "a");
    char *const *variable = WORDS("BLURD_CONFIGS=x", "BLURD_CONFIG=b");
    assert_string_equal(config_file(5, flag, variable), "a");
    assert_string_equal(config_file(3, flag, variable), "b");
    assert_null(config_file(3, flag, &variable[2]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_certificate_and_key),
        cmocka_unit_test(test_sandbox_and_single_process),
        cmocka_unit_test(test_which_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
