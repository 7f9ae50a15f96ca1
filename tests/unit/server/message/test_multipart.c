/* SPDX-License-Identifier: MIT
 * Bodies stand in heap memory of exactly their size, so that the asan build sees every
 * read outside of them. */
#include "server/message/multipart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define FORM "multipart/form-data; boundary=B"
#define DISPOSITION "Content-Disposition: form-data; "

/* Two fields and a file whose bytes look like everything that matters. */
static const char sample[] =
    "--B\r\n" DISPOSITION "name=\"sigma\"\r\n\r\n2.5\r\n"
    "--B \t\r\ncontent-disposition: form-data; name=edge\r\n\r\n\r\n"
    "--B\r\nContent-Type: image/png\r\n" DISPOSITION "name=\"image\"; filename=\"a;b\\\"c.png\"\r\n\r\n"
    "\0\r\n--A\r\n-B\r\n\r\n--\r\n\r"
    "\r\n--B--\r\nan epilogue\r\n--B\r\n";
static const size_t sample_size = sizeof sample - 1;

static uint8_t *heap_copy(const void *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    return copy;
}

/* Reads a body to its end: the parts' number, or -1 with the sentence in *err. Touches
 * every byte that it is given. */
static int read_all(const char *type, const uint8_t *body, size_t size, struct error *err) {
    struct multipart multipart;
    *err = (struct error){0};
    if (multipart_begin(&multipart, type, (struct bytes){body, size}, err) != ST_OK) {
        assert_int_equal(err->status, ST_CORRUPT);
        return -1;
    }
    struct part part;
    bool found = true;
    unsigned sum = 0;
    for (int count = 0;; count++) {
        if (multipart_next(&multipart, &part, &found, err) != ST_OK) {
            assert_int_equal(err->status, ST_CORRUPT);
            assert_false(found);
            return -1;
        }
        if (!found) {
            return count;
        }
        assert_true(part.name[0]);
        assert_true(strlen(part.name) <= MULTIPART_NAME_MAX);
        assert_true(part.data.data >= body && part.data.data + part.data.size <= body + size);
        for (size_t i = 0; i < part.data.size; i++) {
            sum += part.data.data[i];
        }
        assert_true(sum < UINT32_MAX);
    }
}

static int read_text(const char *type, const char *text, struct error *err) {
    uint8_t *body = heap_copy(text, strlen(text));
    int count = read_all(type, body, strlen(text), err);
    free(body);
    return count;
}

static void test_is(void **state) {
    (void)state;
    assert_true(multipart_is("multipart/form-data"));
    assert_true(multipart_is("Multipart/Form-Data; boundary=x"));
    assert_true(multipart_is("multipart/form-data ;boundary=x"));
    assert_false(multipart_is(NULL));
    assert_false(multipart_is(""));
    assert_false(multipart_is("multipart/form-dataset; boundary=x"));
    assert_false(multipart_is("multipart/mixed; boundary=x"));
    assert_false(multipart_is("image/jpeg"));
}

static void expect_part(struct multipart *multipart, const char *name, bool is_file, const void *data,
                        size_t size) {
    struct part part;
    struct error err = {0};
    bool found = false;
    assert_int_equal(multipart_next(multipart, &part, &found, &err), ST_OK);
    assert_true(found);
    assert_string_equal(part.name, name);
    assert_int_equal(part.is_file, is_file);
    assert_int_equal(part.data.size, size);
    assert_memory_equal(part.data.data, data, size);
}

static void test_parts(void **state) {
    (void)state;
    struct multipart multipart;
    struct part part;
    struct error err = {0};
    bool found = true;
    uint8_t *body = heap_copy(sample, sample_size);
    assert_int_equal(multipart_begin(&multipart, FORM, (struct bytes){body, sample_size}, &err), ST_OK);
    expect_part(&multipart, "sigma", false, "2.5", 3);
    expect_part(&multipart, "edge", false, "", 0);
    expect_part(&multipart, "image", true, "\0\r\n--A\r\n-B\r\n\r\n--\r\n\r", 19);
    assert_int_equal(multipart_next(&multipart, &part, &found, &err), ST_OK);
    assert_false(found);
    free(body);
}

#define ONE(boundary) "--" boundary "\r\n" DISPOSITION "name=a\r\n\r\nx\r\n--" boundary "--"
#define TEN "0123456789"
#define SEVENTY TEN TEN TEN TEN TEN TEN TEN

static void test_boundary(void **state) {
    (void)state;
    static const struct {
        const char *type;
        const char *body;
        int parts;
    } table[] = {
        {"multipart/form-data; boundary=B", ONE("B"), 1},
        {"multipart/form-data;charset=utf-8;BOUNDARY=\"B\"", ONE("B"), 1},
        {"multipart/form-data; boundary=\"a b:c\"", ONE("a b:c"), 1},
        {"multipart/form-data; boundary=\"a\\\"b\"", ONE("a\"b"), 1},
        {"multipart/form-data; x=\"; boundary=C\"; boundary=B", ONE("B"), 1},
        {"multipart/form-data; x=\"\\\\\"; boundary=B", ONE("B"), 1},
        {"multipart/form-data; boundary=" SEVENTY, ONE(SEVENTY), 1},
        {"multipart/form-data; boundary=" SEVENTY "x", ONE(SEVENTY "x"), -1},
        {"multipart/form-data; boundary=B", "a preamble\r\n" ONE("B"), 1},
        {"multipart/form-data; boundary=B", "--B--", 0},
        {"multipart/form-data; boundary=B", "a preamble\n" ONE("B"), 0},
        {"multipart/form-data; boundary=B", ONE("C"), -1},
        {"multipart/form-data; boundary=B", "", -1},
        {"multipart/form-data; boundary=", ONE(""), -1},
        {"multipart/form-data; boundary=\"\"", ONE(""), -1},
        {"multipart/form-data; xboundary=B", ONE("B"), -1},
        {"multipart/form-data", ONE("B"), -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct error err;
        int parts = read_text(table[i].type, table[i].body, &err);
        if (parts != table[i].parts) {
            fail_msg("%s with \"%s\": %d parts (%s)", table[i].type, table[i].body, parts, err.text);
        }
    }
    struct error err;
    assert_int_equal(read_all(FORM, NULL, 0, &err), -1);
}

static void test_malformed(void **state) {
    (void)state;
    static const struct {
        const char *body;
        const char *word;
    } table[] = {
        {"--BX\r\n" DISPOSITION "name=a\r\n\r\nx\r\n--B--", "line end"},
        {"--B\n" DISPOSITION "name=a\r\n\r\nx\r\n--B--", "line end"},
        {"--B", "line end"},
        {"--B\r\n", "end of its header"},
        {"--B\r\n" DISPOSITION "name=a\r\n", "end of its header"},
        {"--B\r\nContent-Type: a/b\r\n\r\nx\r\n--B--", "no name"},
        {"--B\r\n" DISPOSITION "filename=a\r\n\r\nx\r\n--B--", "no name"},
        {"--B\r\n" DISPOSITION "name=\"a\r\n\r\nx\r\n--B--", "no name"},
        {"--B\r\n" DISPOSITION "name=\"\"\r\n\r\nx\r\n--B--", "no name"},
        {"--B\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\nx\r\n--B--", "no name"},
        {"--B\r\n" DISPOSITION "name=" SEVENTY "\r\n\r\nx\r\n--B--", "63 characters"},
        {"--B\r\n" DISPOSITION "name=a\r\n\r\nx", "cut short"},
        {"--B\r\n" DISPOSITION "name=a\r\n\r\nx--B--", "cut short"},
        {"--B\r\n" DISPOSITION "name=a\r\n\r\n", "cut short"},
        /* Bytes after an empty header are data, even when they look like a header. */
        {"--B\r\n\r\n" DISPOSITION "name=a\r\n\r\nx\r\n--B--", "no name"},
        /* A header that does not end before the next delimiter. */
        {"--B\r\n" DISPOSITION "name=a\r\n--B\r\nX: y\r\n\r\nx\r\n--B--", "header"},
        {"--B\r\n" DISPOSITION "name=a\r\n" DISPOSITION "name=b\r\n\r\nx\r\n--B--", "more than one"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct error err;
        int parts = read_text(FORM, table[i].body, &err);
        if (parts != -1 || !strstr(err.text, table[i].word)) {
            fail_msg("\"%s\": %d parts, \"%s\" instead of %s", table[i].body, parts, err.text, table[i].word);
        }
    }
}

static void test_name_with_zero_byte(void **state) {
    (void)state;
    static const char text[] = "--B\r\n" DISPOSITION "name=\"sigma\0x\"\r\n\r\n1\r\n--B--";
    uint8_t *body = heap_copy(text, sizeof text - 1);
    struct error err;
    assert_int_equal(read_all(FORM, body, sizeof text - 1, &err), -1);
    free(body);
}

static void test_part_count(void **state) {
    (void)state;
    static const char one[] = "\r\n--B\r\n" DISPOSITION "name=a\r\n\r\nx";
    for (int parts = MULTIPART_PARTS_MAX - 1; parts <= MULTIPART_PARTS_MAX + 1; parts++) {
        struct buf body;
        struct error err;
        buf_init(&body, 1 << 20);
        for (int i = 0; i < parts; i++) {
            assert_int_equal(buf_append(&body, one, sizeof one - 1, &err), ST_OK);
        }
        assert_int_equal(buf_append(&body, "\r\n--B--", 7, &err), ST_OK);
        int expected = parts <= MULTIPART_PARTS_MAX ? parts : -1;
        assert_int_equal(read_all(FORM, body.data, body.size, &err), expected);
        buf_finish(&body);
    }
}

static void test_header_size(void **state) {
    (void)state;
    static const char head[] = "--B\r\n" DISPOSITION "name=a\r\nX: ";
    static const char tail[] = "\r\n\r\nx\r\n--B--";
    size_t fixed = sizeof head - 1 - 5 + 4; /* without the delimiter's line, with the empty line */
    for (size_t size = MULTIPART_HEADER_MAX - 1; size <= MULTIPART_HEADER_MAX + 1; size++) {
        struct buf body;
        struct error err;
        char padding[MULTIPART_HEADER_MAX];
        memset(padding, 'y', sizeof padding);
        buf_init(&body, 1 << 20);
        assert_int_equal(buf_append(&body, head, sizeof head - 1, &err), ST_OK);
        assert_int_equal(buf_append(&body, padding, size - fixed, &err), ST_OK);
        assert_int_equal(buf_append(&body, tail, sizeof tail - 1, &err), ST_OK);
        int expected = size <= MULTIPART_HEADER_MAX ? 1 : -1;
        assert_int_equal(read_all(FORM, body.data, body.size, &err), expected);
        buf_finish(&body);
    }
}

/* Every prefix is refused until the closing delimiter is there. */
static void test_truncation(void **state) {
    (void)state;
    static const char closing[] = "\r\n--B--";
    const char *end = memmem(sample, sample_size, closing, sizeof closing - 1);
    assert_non_null(end);
    size_t complete = (size_t)(end - sample) + sizeof closing - 1;
    for (size_t size = 0; size <= sample_size; size++) {
        uint8_t *body = heap_copy(sample, size);
        struct error err;
        int parts = read_all(FORM, body, size, &err);
        if (parts != (size < complete ? -1 : 3)) {
            fail_msg("%zu of %zu bytes: %d parts (%s)", size, sample_size, parts, err.text);
        }
        free(body);
    }
}

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return *seed;
}

/* Anything may come of it but a crash, a read outside or a view outside. */
static void test_mutation(void **state) {
    (void)state;
    static const char bytes[] = "\r\n-B\"\\;= \t:\0nac";
    uint32_t seed = 20240229;
    int accepted = 0, refused = 0;
    for (int round = 0; round < 20000; round++) {
        size_t size = sample_size - next_random(&seed) % 8;
        uint8_t *body = heap_copy(sample, size);
        for (uint32_t i = 1 + next_random(&seed) % 4; i > 0; i--) {
            body[next_random(&seed) % size] = (uint8_t)bytes[next_random(&seed) % (sizeof bytes - 1)];
        }
        struct error err;
        *(read_all(FORM, body, size, &err) < 0 ? &refused : &accepted) += 1;
        free(body);
    }
    assert_true(accepted > 100 && refused > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is),         cmocka_unit_test(test_parts),
        cmocka_unit_test(test_boundary),   cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_part_count), cmocka_unit_test(test_name_with_zero_byte),
        cmocka_unit_test(test_truncation), cmocka_unit_test(test_header_size),
        cmocka_unit_test(test_mutation),
    };
    return cmocka_run_group_tests_name("multipart", tests, NULL, NULL);
}
