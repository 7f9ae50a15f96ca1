/* SPDX-License-Identifier: MIT
 * The structure of EXIF: its directories, and what a sanitized copy keeps of them. */
#include "tests/unit/codecs/metadata/sanitize_fixture.h"

static void test_orientation_in_both_byte_orders(void **state) {
    (void)state;
    for (uint32_t value = 0; value <= 10; value++) {
        for (int little = 0; little <= 1; little++) {
            struct exif_fixture exif = exif_make(little, value);
            assert_int_equal(exif_orientation(exif_bytes(&exif)), value >= 1 && value <= 8 ? value : 1);
        }
    }
}

static void test_odd_orientation_is_upright(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 6);
    exif_entry(&exif, 22, 0x0112, 4, 1, 6); /* LONG */
    assert_int_equal(exif_orientation(exif_bytes(&exif)), 1);
    exif_entry(&exif, 22, 0x0112, 3, 2, 6);
    assert_int_equal(exif_orientation(exif_bytes(&exif)), 1);
    assert_int_equal(exif_orientation((struct bytes){0}), 1);
    exif = exif_make(true, 6);
    exif.data[2] = 43;
    assert_int_equal(exif_orientation(exif_bytes(&exif)), 1);
    exif = exif_make(true, 6);
    exif_put(&exif, 8, 1, 2); /* the orientation is behind the directory's only entry */
    assert_int_equal(exif_orientation(exif_bytes(&exif)), 1);
}

static void test_sanitized_keeps_and_drops(void **state) {
    (void)state;
    for (int little = 0; little <= 1; little++) {
        struct exif_fixture exif = exif_make(little, 6);
        struct buf upright = sanitized(exif_bytes(&exif), true);
        struct bytes copy = buf_bytes(&upright);
        assert_int_equal(exif_orientation(copy), 1);
        assert_true(fixture_contains(copy, "CAMERA"));
        assert_true(fixture_contains(copy, "LATITUDE"));
        assert_false(fixture_contains(copy, "PREVIEW"));
        assert_false(fixture_contains(copy, "THUMBNAIL"));
        assert_false(fixture_contains(copy, "STRAY"));
        assert_int_equal(losses, LOSS_MAKER_NOTE | LOSS_THUMBNAIL);
        struct buf same = sanitized(exif_bytes(&exif), false);
        assert_int_equal(exif_orientation(buf_bytes(&same)), 6);
        /* The copy of a copy is the same: nothing is lost, nothing grows. */
        struct buf again = sanitized(buf_bytes(&same), false);
        assert_int_equal(again.size, same.size);
        assert_memory_equal(again.data, same.data, same.size);
        buf_finish(&upright);
        buf_finish(&same);
        buf_finish(&again);
    }
}

static void test_orientation_of_another_type_is_reset(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(false, 6);
    exif_entry(&exif, 22, 0x0112, 4, 1, 6);
    struct buf copy = sanitized(exif_bytes(&exif), true);
    assert_false(memmem(copy.data, copy.size, "\x01\x12\x00\x04", 4));
    assert_true(memmem(copy.data, copy.size, "\x01\x12\x00\x03\0\0\0\1\0\1", 10));
    buf_finish(&copy);
}

static void test_loops_end(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 3);
    exif_put(&exif, 58, 8, 4);              /* the next directory is this one */
    exif_entry(&exif, 34, 0x8769, 4, 1, 8); /* and so is the Exif directory */
    exif_entry(&exif, 46, 0x8769, 4, 1, 8);
    struct buf copy = sanitized(exif_bytes(&exif), true);
    assert_true(copy.size > 0 && copy.size < 2 * EXIF_FIXTURE_SIZE);
    buf_finish(&copy);
}

static void test_overlapping_values_do_not_multiply(void **state) {
    (void)state;
    enum { SIZE = 60000, ENTRIES = 4000 };
    uint8_t *data = calloc(1, SIZE);
    struct exif_fixture head = {.little = true};
    memcpy(data, "II*\0\x08\0\0\0", 8);
    data[8] = ENTRIES & 255, data[9] = ENTRIES >> 8;
    for (size_t i = 0; i < ENTRIES; i++) {
        exif_entry(&head, 0, 0x9999, 7, 50000, 0);
        memcpy(data + 10 + i * 12, head.data, 12);
    }
    struct buf copy = sanitized((struct bytes){data, SIZE}, true);
    assert_int_equal(copy.size, 0);
    assert_int_equal(losses, LOSS_EXIF);
    buf_finish(&copy);
    free(data);
}

/* The second entry of a tag must not take the place of the first, fit or not. */
static void test_the_first_entry_counts(void **state) {
    (void)state;
    for (int fit = 0; fit <= 1; fit++) {
        struct exif_fixture exif = exif_make(false, 6);
        exif_entry(&exif, 22, 0x010F, 2, 7, 240);
        memcpy(exif.data + 240, "SECOND", 7);
        exif.data[203] = fit ? 'X' : 1;
        struct buf copy = sanitized(exif_bytes(&exif), true);
        assert_int_equal(fixture_contains(buf_bytes(&copy), "CAMXRA"), fit);
        assert_false(fixture_contains(buf_bytes(&copy), "SECOND"));
        buf_finish(&copy);
    }
}

static void test_the_resolution_is_the_result_s(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(false, 6);
    struct exif_facts facts = {.density = {11811, 5906, 100, DENSITY_CM}};
    struct buf copy;
    buf_init(&copy, EXIF_SIZE_MAX);
    assert_int_equal(exif_sanitize(exif_bytes(&exif), &facts, &copy, &losses, NULL), ST_OK);
    struct density density = exif_density(buf_bytes(&copy));
    assert_memory_equal(&density, &facts.density, sizeof(density));
    assert_int_equal(exif_density(exif_bytes(&exif)).unit, DENSITY_NONE);
    buf_finish(&copy);
}

/* Every cut, and every byte changed to a few values: nothing may be read beyond the end,
 * which the sanitizer build sees, and the result must stay readable. */
static void test_hostile_bytes(void **state) {
    (void)state;
    for (size_t size = 0; size < EXIF_FIXTURE_SIZE; size++) {
        struct exif_fixture exif = exif_make(true, 6);
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, exif.data, size);
        exif_orientation((struct bytes){exact, size});
        struct buf copy = sanitized((struct bytes){exact, size}, true);
        buf_finish(&copy);
        free(exact);
    }
    const uint8_t values[] = {0, 1, 4, 13, 0x7F, 0x80, 0xFF};
    for (size_t at = 0; at < 180; at++) {
        for (size_t v = 0; v < sizeof(values); v++) {
            struct exif_fixture exif = exif_make(false, 6);
            exif.data[at] = values[v];
            struct buf copy = sanitized(exif_bytes(&exif), true);
            assert_int_equal(exif_orientation(buf_bytes(&copy)), 1);
            assert_true(copy.size <= EXIF_SIZE_MAX);
            buf_finish(&copy);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientation_in_both_byte_orders),
        cmocka_unit_test(test_odd_orientation_is_upright),
        cmocka_unit_test(test_sanitized_keeps_and_drops),
        cmocka_unit_test(test_orientation_of_another_type_is_reset),
        cmocka_unit_test(test_loops_end),
        cmocka_unit_test(test_the_first_entry_counts),
        cmocka_unit_test(test_the_resolution_is_the_result_s),
        cmocka_unit_test(test_overlapping_values_do_not_multiply),
        cmocka_unit_test(test_hostile_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
