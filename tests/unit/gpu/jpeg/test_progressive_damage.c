/* SPDX-License-Identifier: MIT
 * Damaged progressive JPEGs on the fake driver: the device never calls one intact that the CPU's reader
 * refuses or reads as something else. */
#include "tests/unit/gpu/jpeg/progressive_fixture.h"

static unsigned refused, damaged, intact;

static void compare(const struct buf *file, const struct image_shape *shape, const char *what) {
    struct reading reading;
    struct error err = {0};
    if (parse(buf_bytes(file), shape, &reading, &err) != ST_OK) {
        refused++;
        return;
    }
    run(&reading, 1);
    assert_int_not_equal(reading.verdict, PROGRESSIVE_PENDING);
    damaged += reading.verdict == PROGRESSIVE_DAMAGED;
    if (reading.verdict == PROGRESSIVE_INTACT) {
        bool same = false;
        enum status status = by_cpu(buf_bytes(file), shape, &reading, &same);
        if (status != ST_OK || !same) {
            fail_msg("%s: the device calls it intact, the CPU %d, same %d", what, status, same);
        }
        intact++;
    }
    finish(&reading);
}

static void report(const char *what) {
    print_message("%s: %u refused, %u damaged, %u intact\n", what, refused, damaged, intact);
    refused = damaged = intact = 0;
}

static struct buf copy_of(const struct buf *file) {
    struct buf copy;
    buf_init(&copy, FILE_MAX);
    assert_int_equal(buf_append(&copy, file->data, file->size, NULL), ST_OK);
    return copy;
}

static struct progressive_material small_material(size_t i) {
    struct progressive_material material = any_material(i);
    material.width = 20 + below(60);
    material.height = 20 + below(50);
    return material;
}

static void test_flipped_bits(void **state) {
    (void)state;
    enum { FILES = 64, FLIPS = 60 };
    for (size_t i = 0; i < FILES; i++) {
        const struct progressive_material material = small_material(i);
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        for (size_t flip = 0; flip < FLIPS; flip++) {
            struct buf copy = copy_of(&file);
            for (unsigned count = 1 + below(3); count > 0; count--) {
                copy.data[20 + below(copy.size - 20)] ^= (uint8_t)(1U << below(8));
            }
            compare(&copy, &shape, "bits flipped");
            buf_finish(&copy);
        }
        buf_finish(&file);
    }
    report("bits flipped");
}

/* Bytes of one scan are missing, or the end of it. */
static void test_missing_bytes(void **state) {
    (void)state;
    enum { FILES = 48, CUTS = 30 };
    for (size_t i = 0; i < FILES; i++) {
        const struct progressive_material material = small_material(i);
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        for (size_t cut = 0; cut < CUTS; cut++) {
            struct buf copy = copy_of(&file);
            size_t at = 20 + below(copy.size - 24), count = 1 + below(at + 20 < copy.size ? 4 : 1);
            memmove(copy.data + at, copy.data + at + count, copy.size - at - count);
            copy.size -= count;
            compare(&copy, &shape, "bytes missing");
            buf_finish(&copy);
        }
        buf_finish(&file);
    }
    report("bytes missing");
}

/* A byte more or less before each marker. */
static void test_ends_of_scans(void **state) {
    (void)state;
    enum { FILES = 32 };
    for (size_t i = 0; i < FILES; i++) {
        const struct progressive_material material = small_material(i);
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        for (size_t at = 20; at + 1 < file.size; at++) {
            if (file.data[at] == 0xff && (file.data[at + 1] == 0xc4 || file.data[at + 1] >= 0xd9)) {
                struct buf copy = copy_of(&file);
                fixture_insert(&copy, at, "\x55", 1);
                compare(&copy, &shape, "a byte more");
                memmove(copy.data + at - 1, copy.data + at + 1, copy.size - at - 1);
                copy.size -= 2;
                compare(&copy, &shape, "a byte less");
                buf_finish(&copy);
            }
        }
        buf_finish(&file);
    }
    report("ends of scans");
    assert_int_equal(intact, 0);
}

static void test_truncations(void **state) {
    (void)state;
    const struct progressive_material material = small_material(0);
    const struct image_shape shape = shape_of(&material);
    struct buf file = make(&material);
    for (size_t size = 0; size < file.size; size++) {
        struct buf copy = {file.data, size, size, size, true};
        compare(&copy, &shape, "cut");
    }
    assert_int_equal(damaged + intact, 0);
    report("cut");
    buf_finish(&file);
}

/* Scans of constant bytes take no longer than others, and keep no other scan waiting. */
static void test_constant_bytes(void **state) {
    (void)state;
    static const uint8_t values[] = {0x00, 0xfe, 0x55, 0x80};
    for (size_t i = 0; i < 32; i++) {
        const struct progressive_material material = small_material(i);
        const struct image_shape shape = shape_of(&material);
        struct buf file = make(&material);
        for (size_t value = 0; value < COUNT(values); value++) {
            struct buf copy = copy_of(&file);
            size_t from = 0;
            for (size_t at = 20; at + 1 < copy.size; at++) { /* the data behind the last header but some */
                from = copy.data[at] == 0xff && copy.data[at + 1] == 0xda && below(3) == 0 ? at + 16 : from;
            }
            for (size_t at = from; from > 0 && at + 2 < copy.size && copy.data[at] != 0xff; at++) {
                copy.data[at] = values[value];
            }
            compare(&copy, &shape, "constant");
            buf_finish(&copy);
        }
        buf_finish(&file);
    }
    report("constant");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_bits),   cmocka_unit_test(test_missing_bytes),
        cmocka_unit_test(test_ends_of_scans),  cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_constant_bytes),
    };
    return cmocka_run_group_tests(tests, open_stream, close_stream);
}
