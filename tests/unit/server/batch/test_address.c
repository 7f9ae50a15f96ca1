/* SPDX-License-Identifier: MIT */
#include "server/client/http/address.h"

#include "tests/unit/server/batch/batch_fixture.h"

static struct daemon_address address[ADDRESSES_MAX];
static size_t count;
static struct error err;

static enum status parse(const char *list) {
    err = (struct error){0};
    return addresses_parse(list, address, &count, &err);
}

static void assert_one(const char *list, bool local, bool tls, const char *host, const char *port) {
    assert_int_equal(parse(list), ST_OK);
    assert_int_equal(count, 1);
    assert_int_equal(address[0].local, local);
    assert_int_equal(address[0].tls, tls);
    assert_string_equal(address[0].host, host);
    assert_string_equal(address[0].port, port);
}

static void test_forms(void **state) {
    (void)state;
    assert_one("http://a", false, false, "a", "80");
    assert_one("http://a/", false, false, "a", "80");
    assert_one("https://a.b.c:8443/", false, true, "a.b.c", "8443");
    assert_one("https://a", false, true, "a", "443");
    assert_one("http://127.0.0.1:8080", false, false, "127.0.0.1", "8080");
    assert_one("http://[::1]:8080", false, false, "::1", "8080");
    assert_one("https://[fe80::1]", false, true, "fe80::1", "443");
    assert_one("unix:/run/blurd.sock", true, false, "/run/blurd.sock", "");
    assert_one("unix:s", true, false, "s", "");
}

static void test_lists(void **state) {
    char list[64 * 9 + 10] = "http://a:1,unix:/s,https://[::1],";
    (void)state;
    assert_int_equal(parse(list), ST_OK);
    assert_int_equal(count, 3);
    assert_string_equal(address[0].port, "1");
    assert_string_equal(address[1].host, "/s");
    assert_true(address[2].tls);
    for (size_t i = 0; i < ADDRESSES_MAX; i++) {
        snprintf(list + i * 9, 10, "http://a,");
    }
    assert_int_equal(parse(list), ST_OK);
    snprintf(list + sizeof list - 10, 10, "http://b");
    assert_int_equal(parse(list), ST_ARGUMENT);
    assert_string_equal(err.text, "more than 64 daemons");
}

static void test_refusals(void **state) {
    static const char *const wrong[] = {
        "a:80",        "ftp://a",    "http:/a",       "http://",         "https://",     "http://:80",
        "http://a:",   "http://a:x", "http://a:80x",  "http://a:123456", "http://a/b",   "http://[::1",
        "http://[]:1", "unix:",      "http://[::1]x", "http://a,",       "http://a?b=c", ",http://a",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const bool list = strcmp(wrong[i], "http://a,") == 0; /* a comma at the end is none */
        const bool query =
            strcmp(wrong[i], "http://a?b=c") == 0; /* no name of a host can be so, and none is found */
        assert_int_equal(parse(wrong[i]), list || query ? ST_OK : ST_ARGUMENT);
    }
    assert_int_equal(parse("http://a,b"), ST_ARGUMENT);
    assert_string_equal(err.text,
                        "\"b\" is no address of a daemon: http://host:port, https://host:port or unix:PATH");
}

static void test_long_ones(void **state) {
    char list[1024] = "http://";
    (void)state;
    memset(list + 7, 'a', 255);
    assert_int_equal(parse(list), ST_OK);
    memset(list + 7, 'a', 256);
    assert_int_equal(parse(list), ST_ARGUMENT);
    memset(list + 7, 'a', 1000);
    assert_int_equal(parse(list), ST_ARGUMENT);
    snprintf(list, sizeof list, "unix:%0200d", 0);
    assert_int_equal(parse(list), ST_ARGUMENT);
}

static void test_nobody_is_there(void **state) {
    int fd = -1;
    (void)state;
    assert_int_equal(parse("unix:nobody"), ST_OK);
    assert_int_equal(address_connect(&address[0], 1, &fd, &err), ST_BUSY);
    assert_string_equal(err.text, "cannot connect to nobody: No such file or directory");
    assert_int_equal(parse("http://127.0.0.1:1"), ST_OK);
    assert_int_equal(address_connect(&address[0], 1, &fd, &err), ST_BUSY);
    assert_string_equal(err.text, "cannot connect to 127.0.0.1:1: Connection refused");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_ones),
        cmocka_unit_test_setup_teardown(test_nobody_is_there, batch_test_enter, batch_test_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
