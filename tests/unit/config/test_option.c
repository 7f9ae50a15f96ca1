/* SPDX-License-Identifier: MIT
 * The types of options one by one, on rows made for the purpose; and the two helpers of
 * the folder that stand alone. */
#include "config/cores.h"
#include "config/nearest.h"
#include "config/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void parse_ok(const struct option *row, const char *text, const void *value, size_t size) {
    unsigned char member[64] = {0};
    struct error err = {0};
    if (option_parse(row, text, member, &err)) {
        fail_msg("\"%s\" was refused: %s", text, err.text);
    }
    assert_memory_equal(member, value, size);
}

static void parse_bad(const struct option *row, const char *text, const char *sentence) {
    unsigned char member[64];
    unsigned char before[64];
    struct error err = {0};
    memset(member, 0xa5, sizeof member);
    memcpy(before, member, sizeof member);
    assert_int_equal(option_parse(row, text, member, &err), ST_ARGUMENT);
    assert_string_equal(err.text, sentence);
    assert_string_equal(err.parameter, row->name);
    assert_memory_equal(member, before, sizeof member);
}

static void test_whole(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_WHOLE, .minimum = 1, .maximum = UINT32_MAX, .unit = ""};
    const char *sentence = "it must be from 1 to 4294967295";
    parse_ok(&row, "1", &(uint32_t){1}, 4);
    parse_ok(&row, "007", &(uint32_t){7}, 4);
    parse_ok(&row, "4294967295", &(uint32_t){UINT32_MAX}, 4);
    static const char *const bad[] = {
        "0",    "4294967296", "",    "-1", "+1",  " 1",  "1 ",
        "1.5",  "1e3",        "0x1", "1K", "one", "--1", "99999999999999999999999",
        "1\n2", "\xd9\xa1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parse_bad(&row, bad[i], sentence);
    }
}

static void test_bytes(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_BYTES, .minimum = 1, .maximum = 4 * GIB, .unit = ""};
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"1", 1},        {"1B", 1},          {"3K", 3072}, {"3k", 3072},      {"3KiB", 3072},
        {"2M", 2 * MIB}, {"2 MiB", 2 * MIB}, {"1G", GIB},  {"4GiB", 4 * GIB},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        parse_ok(&row, good[i].text, &good[i].value, 8);
    }
    static const char *const bad[] = {
        "0",     "5GiB",           "4294967297",           "1MB", "1kB", "1m", "MiB", "1 ",
        "1KiBx", "99999999999GiB", "9223372036854775807K", "1T"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parse_bad(&row, bad[i], "it must be from 1 to 4GiB");
    }
}

static void test_pixels(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_PIXELS, .minimum = 1, .maximum = 100 * MEGAPIXEL, .unit = ""};
    parse_ok(&row, "12", &(uint64_t){12}, 8);
    parse_ok(&row, "100MP", &(uint64_t){100000000}, 8);
    parse_ok(&row, "3M", &(uint64_t){3000000}, 8);
    parse_bad(&row, "101MP", "it must be from 1 to 100MP");
    parse_bad(&row, "1MiB", "it must be from 1 to 100MP");
}

static void test_duration(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_DURATION, .minimum = 0, .maximum = 2 * HOUR, .unit = ""};
    const char *sentence = "it must be from 0s to 2h, with its unit: ms, s, m or h";
    parse_ok(&row, "0", &(int64_t){0}, 8);
    parse_ok(&row, "0s", &(int64_t){0}, 8);
    parse_ok(&row, "250ms", &(int64_t){250}, 8);
    parse_ok(&row, "90s", &(int64_t){90000}, 8);
    parse_ok(&row, "5 m", &(int64_t){300000}, 8);
    parse_ok(&row, "2h", &(int64_t){7200000}, 8);
    parse_bad(&row, "5", sentence);
    parse_bad(&row, "3h", sentence);
    parse_bad(&row, "1.5s", sentence);
    parse_bad(&row, "s", sentence);
    parse_bad(&row, "5min", sentence);
}

static void test_switch(void **state) {
    (void)state;
    const struct option row = {.name = "n", .type = OPTION_SWITCH, .maximum = 1, .unit = ""};
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        parse_ok(&row, yes[i], &(bool){true}, sizeof(bool));
        parse_ok(&row, no[i], &(bool){false}, sizeof(bool));
    }
    parse_bad(&row, "", "it must be true or false");
    parse_bad(&row, "TRUE", "it must be true or false");
    parse_bad(&row, "2", "it must be true or false");
    char text[OPTION_VALUE_MAX];
    option_format(&row, &(bool){true}, text);
    assert_string_equal(text, "true");
}

static void test_choice(void **state) {
    (void)state;
    static const struct option_choice choices[] = {{"other", "red"}, {"n", "green"}, {"n", "blue"}};
    const struct option row = {
        .name = "n", .type = OPTION_CHOICE, .unit = "", .choices = choices, .choice_count = 3};
    parse_ok(&row, "green", &(unsigned){1}, sizeof(unsigned));
    parse_ok(&row, "blue", &(unsigned){2}, sizeof(unsigned));
    parse_bad(&row, "red", "it must be one of green, blue"); /* another option's value */
    parse_bad(&row, "Green", "it must be one of green, blue");
    parse_bad(&row, "", "it must be one of green, blue");
}

static void test_text(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_TEXT, .initial_text = "", .minimum = 2, .maximum = 5, .unit = ""};
    const char *sentence = "it must be printable and from 2 to 5 bytes long";
    parse_ok(&row, "ab", "ab", 3);
    parse_ok(&row, "abcde", "abcde", 6);
    parse_bad(&row, "a", sentence);
    parse_bad(&row, "abcdef", sentence);
    parse_bad(&row, "a\tb", sentence);
    parse_bad(&row, "ab\x7f", sentence);
    struct option file = row;
    file.type = OPTION_FILE;
    parse_ok(&file, "a b/c", "a b/c", 6);
    parse_bad(&file, "a\tb", sentence);
    assert_string_equal(option_placeholder(&file), "FILE");
}

static void test_address(void **state) {
    (void)state;
    const struct option row = {
        .name = "n", .type = OPTION_ADDRESS, .initial_text = "::", .minimum = 1, .maximum = 45, .unit = ""};
    parse_ok(&row, "127.0.0.1", "127.0.0.1", 10);
    parse_ok(&row, "fe80::1", "fe80::1", 8);
    parse_ok(&row, "unix:/run/blurd.sock", "unix:/run/blurd.sock", 21);
    static const char *const bad[] = {
        "",      "localhost", "1.2.3",      "1.2.3.256",
        "unix:", "unix/run",  "UNIX:/run",  "unix:/a\nb",
        "[::1]", "::1:8080x", "0.0.0.0:80", "fe80:0000:0000:0000:0000:0000:0000:0000:0000:0001"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        parse_bad(&row, bad[i],
                  "it must be a numeric IPv4 or IPv6 address, or unix: and a path of up to 107 bytes");
    }
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const words[] = {"port", "max_body", "max_pixels"};
    assert_int_equal(nearest_word("MAX-BODY", words, 3), 1);
    assert_int_equal(nearest_word("max_pixel", words, 3), 2);
    assert_int_equal(nearest_word("prot", words, 3), 0);
    assert_int_equal(nearest_word("", words, 3), 0);
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_true(nearest_word(longest, words, 3) < 3);
}

static void test_cores(void **state) {
    (void)state;
    uint32_t cores = cores_usable();
    assert_in_range(cores, 1, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_bytes),   cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_duration), cmocka_unit_test(test_switch),  cmocka_unit_test(test_choice),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_address), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_cores),
    };
    return cmocka_run_group_tests_name("option", tests, NULL, NULL);
}
