/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/icc/icc_sanitize.h"

#include <stdlib.h>

#include "codecs/definition.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

#include <cmocka.h>

enum { SIZE = 400, TAGS = 8 };

static struct buf sanitized(const uint8_t *profile, size_t size) {
    struct buf output;
    struct error err;
    buf_init(&output, METADATA_ICC_MAX);
    assert_int_equal(icc_sanitize((struct bytes){profile, size}, &output, &err), ST_OK);
    return output;
}

static uint32_t written(const uint8_t *profile, size_t size) {
    struct buf output = sanitized(profile, size);
    uint32_t bytes = (uint32_t)output.size;
    buf_finish(&output);
    return bytes;
}

/* A copy of `profile` whose table has one more tag, with `size` bytes at the end. */
static size_t with_tag(uint8_t *to, const uint8_t *profile, const char *name, const void *element,
                       size_t size) {
    memcpy(to, profile, 132 + 12 * TAGS);
    memcpy(to + 144 + 12 * TAGS, profile + 132 + 12 * TAGS, SIZE - 132 - 12 * TAGS);
    for (unsigned i = 0; i < TAGS; i++) {
        uint8_t *offset = to + 132 + 12 * i + 4;
        bytes_put_be32(offset, bytes_be32(offset) + 12);
    }
    icc_make_entry(to + 132 + 12 * TAGS, name, SIZE + 12, size);
    memcpy(to + SIZE + 12, element, size);
    to[131] = TAGS + 1;
    bytes_put_be32(to, (uint32_t)(SIZE + 12 + size));
    return SIZE + 12 + size;
}

static void test_good_profiles_stay(void **state) {
    (void)state;
    static const char *const spaces[] = {"RGB ", "GRAY"};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t profile[SIZE];
        icc_make(profile, SIZE, spaces[i]);
        struct buf output = sanitized(profile, SIZE);
        assert_int_equal(output.size, SIZE);
        assert_memory_equal(output.data, profile, SIZE);
        buf_finish(&output);
    }
}

static void test_what_no_tag_needs_goes(void **state) {
    (void)state;
    uint8_t profile[SIZE], more[2 * SIZE], secret[40] = "data\0\0\0\0SECRET";
    icc_make(profile, SIZE, "RGB ");
    size_t size = with_tag(more, profile, "blrd", secret, sizeof(secret));
    for (unsigned i = 0; i < 3; i++) { /* a private tag, bytes that no tag has, bytes behind an element */
        more[131] = i == 1 ? TAGS : TAGS + 1;
        memcpy(more + 132 + 12 * TAGS, i == 2 ? "chad" : "blrd", 4);
        memcpy(more + SIZE + 12, i == 2 ? "curv" : "data", 4);
        struct buf output = sanitized(more, size);
        assert_int_equal(output.size, SIZE);
        assert_memory_equal(output.data, profile, SIZE);
        buf_finish(&output);
    }
}

static void test_known_tags_are_cut_to_what_their_type_needs(void **state) {
    (void)state;
    static const struct {
        const char *name, *type;
        size_t size, written;
        uint8_t eighth[4]; /* of the element, from byte 8 on */
    } cases[] = {{"wtpt", "XYZ ", 60, 20, {1, 2, 3, 4}},
                 {"wtpt", "XYZ ", 19, 0, {1, 2, 3, 4}},
                 {"chad", "sf32", 60, 44, {0}},
                 {"chad", "sf32", 43, 0, {0}},
                 {"cicp", "cicp", 60, 12, {12, 13, 0, 1}},
                 {"cicp", "XYZ ", 60, 0, {0}},
                 {"A2B0", "mft1", 60, 0, {3, 3, 2, 0}},
                 {"A2B0", "mft1", 2000, 48 + 768 + 24 + 768, {3, 3, 2, 7}},
                 {"A2B0", "mft1", 2000, 0, {5, 3, 2, 0}},
                 {"A2B0", "mft1", 2000, 0, {0, 3, 2, 0}},
                 {"A2B0", "mft1", 2000, 0, {3, 0, 2, 0}},
                 {"A2B0", "mft1", 2000, 0, {3, 3, 0, 0}},
                 {"A2B0", "mft1", 2000, 0, {3, 3, 255, 0}}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t profile[SIZE], more[3000], element[2000];
        icc_make(profile, SIZE, "RGB ");
        memset(element, 'S', sizeof(element)); /* reserved bytes, too */
        memcpy(element, cases[i].type, 4);
        memcpy(element + 8, cases[i].eighth, 4);
        size_t size = with_tag(more, profile, cases[i].name, element, cases[i].size);
        size_t expected = SIZE + (cases[i].written ? 12 + bytes_align_up(cases[i].written, 4) : 0);
        struct buf output = sanitized(more, size);
        assert_int_equal(output.size, expected);
        struct buf again = sanitized(output.data, output.size);
        assert_int_equal(again.size, output.size);
        assert_memory_equal(again.data, output.data, output.size);
        for (size_t k = 0; cases[i].written && k + 4 <= output.size; k++) {
            bool found = memcmp(output.data + k, cases[i].type, 4) == 0 && k > 132 + 12 * (TAGS + 1);
            assert_true(!found || bytes_be32(output.data + k + 4) == 0); /* reserved */
        }
        buf_finish(&again);
        buf_finish(&output);
    }
}

/* B curves, a matrix, M curves, a table and A curves, with gaps between them. */
static void test_parts_of_a_table(void **state) {
    (void)state;
    static const unsigned at[] = {40, 100, 200, 300, 400};
    uint8_t element[500], profile[SIZE], more[1000];
    memset(element, 'S', sizeof(element));
    memcpy(element, "mAB ", 4);
    element[8] = element[9] = 3;
    for (unsigned i = 0; i < 5; i++) {
        bytes_put_be32(element + 12 + 4 * i, at[i]);
        for (unsigned k = 0; k < 3 && i != 1 && i != 3; k++) {
            memcpy(element + at[i] + 12 * k, "curvSSSS\0\0\0\0", 12);
        }
    }
    memset(element + 300, 2, 17); /* 2x2x2 points of two bytes: 20 + 48 */
    icc_make(profile, SIZE, "RGB ");
    size_t size = with_tag(more, profile, "A2B0", element, sizeof(element));
    struct buf output = sanitized(more, size);
    assert_int_equal(output.size, SIZE + 12 + 32 + 36 + 48 + 36 + 68 + 36);
    assert_null(memmem(output.data, output.size, "curvSSSS", 8));
    struct buf again = sanitized(output.data, output.size);
    assert_int_equal(again.size, output.size);
    assert_memory_equal(again.data, output.data, output.size);
    buf_finish(&again);
    buf_finish(&output);
    for (unsigned i = 8; i < 10; i++) { /* no inputs, no outputs, more than there may be */
        more[SIZE + 12 + i] = 0;
        assert_int_equal(written(more, size), SIZE);
        more[SIZE + 12 + i] = 5;
        assert_int_equal(written(more, size), SIZE);
        more[SIZE + 12 + i] = 3;
    }
    bytes_put_be32(more + SIZE + 12 + 24, 490); /* a table that does not fit */
    assert_int_equal(written(more, size), SIZE);
    for (unsigned part = 1; part < 5; part++) { /* with the curves behind the table alone */
        bytes_put_be32(more + SIZE + 12 + 12 + 4 * part, 0);
    }
    assert_int_equal(written(more, size), SIZE + 12 + 32 + 36);
    for (unsigned i = 8; i < 10; i++) {
        more[SIZE + 12 + i] = 0;
        assert_int_equal(written(more, size), SIZE);
        more[SIZE + 12 + i] = 17;
        assert_int_equal(written(more, size), SIZE);
        more[SIZE + 12 + i] = 3;
    }
}

static void test_unreadable_profiles_go(void **state) {
    (void)state;
    static const struct {
        size_t at;
        const char *bytes;
        size_t size;
    } cases[] = {{8, "\5", 1},         {8, "\1", 1},     {12, "link", 4},       {16, "CMYK", 4},
                 {20, "RGB ", 4},      {36, "acsq", 4},  {131, "\7", 1},        {130, "\1", 1},
                 {128, "\377", 1},     {156, "none", 4}, {132 + 60, "rTRD", 4}, {160, "\0\0\1\220", 4},
                 {164, "\0\0\0\23", 4}};
    uint8_t profile[SIZE];
    icc_make(profile, SIZE, "RGB ");
    for (size_t size = 0; size < SIZE; size++) {
        assert_int_equal(written(profile, size), 0);
    }
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        icc_make(profile, SIZE, "RGB ");
        memcpy(profile + cases[i].at, cases[i].bytes, cases[i].size);
        assert_int_equal(written(profile, SIZE), 0);
    }
}

/* Each of the six curves and colours is as long as the whole profile allows, and each is another element. */
static void test_output_has_a_limit(void **state) {
    (void)state;
    size_t size = METADATA_ICC_MAX;
    uint8_t *profile = calloc(1, size);
    icc_make(profile, size, "RGB ");
    uint8_t *entry = profile + 132 + 12 * 5, *samples = profile + bytes_be32(entry + 4) + 8;
    bytes_put_be32(samples, bytes_be32(samples) - 1); /* sound in a byte or two less */
    assert_true(written(profile, size) > size / 2);   /* shared */
    for (unsigned i = 1; i < 3; i++) {                /* one byte shorter each: not shared */
        uint8_t *bytes = entry + 12 * i + 8;
        bytes_put_be32(bytes, bytes_be32(bytes) - i);
    }
    assert_int_equal(written(profile, size), 0);
    free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_profiles_stay),
        cmocka_unit_test(test_what_no_tag_needs_goes),
        cmocka_unit_test(test_known_tags_are_cut_to_what_their_type_needs),
        cmocka_unit_test(test_parts_of_a_table),
        cmocka_unit_test(test_unreadable_profiles_go),
        cmocka_unit_test(test_output_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
