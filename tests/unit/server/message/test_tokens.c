/* SPDX-License-Identifier: MIT */
#include "server/message/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define SIXTEEN "0123456789abcdef"
#define OTHER "fedcba9876543210-._~+/="

static char path[] = "/tmp/blurd-tokens-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static enum status load(const char *text, size_t size, struct tokens **tokens, struct error *err) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    *tokens = NULL;
    *err = (struct error){0};
    return tokens_load(tokens, path, err);
}

static struct tokens *load_ok(const char *text) {
    struct tokens *tokens;
    struct error err;
    if (load(text, strlen(text), &tokens, &err) != ST_OK) {
        fail_msg("\"%s\" was refused: %s", text, err.text);
    }
    assert_non_null(tokens);
    return tokens;
}

static void load_bad(const char *text, size_t size, const char *word) {
    struct tokens *tokens;
    struct error err;
    if (load(text, size, &tokens, &err) != ST_ARGUMENT) {
        fail_msg("\"%s\" was taken", text);
    }
    assert_null(tokens);
    if (!strstr(err.text, word) || !strstr(err.text, path)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, word);
    }
    assert_null(strstr(err.text, "secret"));
}

static void test_files(void **state) {
    (void)state;
    static const char *const texts[] = {
        SIXTEEN,
        SIXTEEN "\n",
        SIXTEEN "\r\n",
        "\n\r\n\n" SIXTEEN "\n\n",
        "# a comment\n" SIXTEEN "\n#\n",
        OTHER "\n" SIXTEEN,
        OTHER "\r\n" SIXTEEN "\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tokens *tokens = load_ok(texts[i]);
        assert_true(tokens_allow(tokens, "Bearer " SIXTEEN));
        assert_false(tokens_allow(tokens, "Bearer " SIXTEEN "\r"));
        assert_false(tokens_allow(tokens, "Bearer "));
        assert_false(tokens_allow(tokens, "Bearer #"));
        tokens_destroy(tokens);
    }
    tokens_destroy(NULL);
}

static void test_refused_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *word;
    } table[] = {
        {"", "no token"},
        {"\n\n", "no token"},
        {"# secret-secret-secret\n", "no token"},
        {"secret-secret-1", ":1: "},
        {SIXTEEN "\n# x\nsecret", ":3: "},
        {"secret-secret with-blank", ":1: "},
        {"secret-secret-secret \n", ":1: "},
        {" secret-secret-secret\n", ":1: "},
        {"secret-secret\tsecret\n", ":1: "},
        {"secret-secret-\xc3\xa4\xc3\xb6\xc3\xbc\n", ":1: "},
        {"\xef\xbb\xbfsecret-secret-secret\n", ":1: "},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        load_bad(table[i].text, strlen(table[i].text), table[i].word);
    }
    static const char zero[] = "secret-secret-secret\0-secret\n";
    load_bad(zero, sizeof zero - 1, ":1: ");
    struct tokens *tokens = NULL;
    struct error err = {0};
    assert_int_equal(tokens_load(&tokens, "/nowhere/at/all", &err), ST_ARGUMENT);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    assert_int_equal(tokens_load(&tokens, "/", &err), ST_ARGUMENT);
    assert_non_null(strstr(err.text, "/: Is a directory"));
    assert_int_equal(tokens_load(&tokens, "/dev/zero", &err), ST_ARGUMENT); /* it has no end */
    assert_non_null(strstr(err.text, "larger than 65536 bytes"));
    assert_null(tokens);
}

/* "Bearer " and `size` times x, which is the line to be written behind the seventh. */
static void repeat(char *text, size_t size) {
    memcpy(text, "Bearer ", 7);
    memset(text + 7, 'x', size);
    text[7 + size] = '\0';
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        size_t size;
        bool fine;
    } table[] = {{TOKEN_SIZE_MIN - 1, false}, {TOKEN_SIZE_MIN, true},        {TOKEN_SIZE_MAX - 1, true},
                 {TOKEN_SIZE_MAX, true},      {TOKEN_SIZE_MAX + 1, false},   {TOKEN_SIZE_MAX + 2, false},
                 {TOKEN_SIZE_MAX + 3, false}, {TOKEN_SIZE_MAX + 100, false}, {3 * TOKEN_SIZE_MAX, false}};
    static const char *const ends[] = {"", "\n", "\r\n", "\n" SIXTEEN "\n"};
    for (size_t i = 0; i < 4 * sizeof table / sizeof *table; i++) {
        char text[4 * TOKEN_SIZE_MAX];
        size_t size = table[i / 4].size;
        repeat(text, size);
        snprintf(text + 7 + size, sizeof text - 7 - size, "%s", ends[i % 4]);
        if (table[i / 4].fine) {
            struct tokens *tokens = load_ok(text + 7);
            repeat(text, size);
            assert_true(tokens_allow(tokens, text));
            repeat(text, size + 1);
            assert_false(tokens_allow(tokens, text));
            repeat(text, size - 1);
            assert_false(tokens_allow(tokens, text));
            tokens_destroy(tokens);
        } else {
            load_bad(text + 7, strlen(text + 7), ":1: ");
        }
    }
}

/* A comment may be of any length; none of it is a token. */
static void test_long_comments(void **state) {
    (void)state;
    for (size_t size = TOKEN_SIZE_MAX - 4; size < 3 * TOKEN_SIZE_MAX; size++) {
        char text[4 * TOKEN_SIZE_MAX];
        memset(text, 'x', size);
        text[0] = '#';
        snprintf(text + size, sizeof text - size, "\n" SIXTEEN "\n");
        struct tokens *tokens = load_ok(text);
        assert_true(tokens_allow(tokens, "Bearer " SIXTEEN));
        assert_false(tokens_allow(tokens, "Bearer xxxxxxxxxxxxxxxxxxxx"));
        tokens_destroy(tokens);
    }
}

static void test_count(void **state) {
    (void)state;
    for (int count = TOKENS_MAX - 1; count <= TOKENS_MAX + 1; count++) {
        char text[(TOKENS_MAX + 1) * 24], header[64];
        size_t used = 0;
        for (int i = 0; i < count; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, SIXTEEN "-%d\n", i);
        }
        if (count > TOKENS_MAX) {
            load_bad(text, used, "more than 64");
            continue;
        }
        struct tokens *tokens = load_ok(text);
        for (int i = 0; i <= count; i++) {
            snprintf(header, sizeof header, "Bearer " SIXTEEN "-%d", i);
            assert_int_equal(tokens_allow(tokens, header), i < count);
        }
        tokens_destroy(tokens);
    }
}

static void test_allow(void **state) {
    (void)state;
    static const struct {
        const char *header;
        bool allowed;
    } table[] = {
        {"Bearer " SIXTEEN, true},
        {"bearer " SIXTEEN, true},
        {"BEARER " OTHER, true},
        {NULL, false},
        {"", false},
        {"Bearer", false},
        {"Bearer ", false},
        {SIXTEEN, false},
        {"Basic " SIXTEEN, false},
        {"Bearer" SIXTEEN, false},
        {"Bearer\t" SIXTEEN, false},
        {" Bearer " SIXTEEN, false},
        {"Bearer  " SIXTEEN, false},
        {"Bearer " SIXTEEN " ", false},
        {"Bearer " SIXTEEN "0", false},
        {"Bearer 0123456789abcde", false},
        {"Bearer 0123456789ABCDEF", false},
        {"Bearer 1123456789abcdef", false},
        {"Bearer 0123456789abcdee", false},
        {"Bearer " SIXTEEN OTHER, false},
        {"Bearer " SIXTEEN ", Bearer " OTHER, false},
    };
    struct tokens *tokens = load_ok(SIXTEEN "\n" OTHER "\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *copy = table[i].header ? strdup(table[i].header) : NULL; /* asan: nothing behind it is read */
        if (tokens_allow(tokens, copy) != table[i].allowed) {
            fail_msg("\"%s\"", table[i].header);
        }
        free(copy);
    }
    tokens_destroy(tokens);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files), cmocka_unit_test(test_refused_files), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_count), cmocka_unit_test(test_long_comments), cmocka_unit_test(test_allow),
    };
    return cmocka_run_group_tests_name("tokens", tests, make_file, remove_file);
}
