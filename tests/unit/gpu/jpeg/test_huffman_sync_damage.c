/* SPDX-License-Identifier: MIT
 * The walk over a JPEG's scan, with the fake driver, over files that are cut or damaged: a file that it
 * accepts is decoded by libjpeg without a warning. */
#include "core/sanitizers.h"
#include "tests/unit/gpu/jpeg/huffman_sync_fixture.h"

enum { TRIES = SANITIZED ? 60 : 250, LARGE_TRIES = SANITIZED ? 20 : 60 };

static void damage_often(const struct buf *good, size_t kind, unsigned tries) {
    for (unsigned i = 0; i < tries; i++) {
        struct buf file;
        buf_init(&file, FILE_MAX);
        assert_int_equal(buf_append(&file, good->data, good->size, NULL), ST_OK);
        kinds[kind].damage(&file, scan_of(good));
        compare(&file, kinds[kind].name);
        buf_finish(&file);
    }
}

static void test_every_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(factors); i++) {
        struct material material = {.content = i % CONTENTS,
                                    .h = factors[i][0],
                                    .v = factors[i][1],
                                    .quality = 60,
                                    .optimised = i % 2,
                                    .restart = restarts[i % COUNT(restarts)],
                                    .width = 61,
                                    .height = 45};
        struct buf file = make(&material);
        size_t whole = file.size, scan = scan_of(&file);
        for (file.size = 0; file.size < whole; file.size++) {
            assert_int_not_equal(compare(&file, "cut"), ST_OK);
        }
        for (size_t at = whole - 2; at-- > scan;) {
            memcpy(file.data + at, "\xff\xd9", 2);
            file.size = at + 2;
            assert_int_not_equal(compare(&file, "cut, end marker"), ST_OK);
        }
        buf_finish(&file);
    }
    report("cuts");
}

static void test_damage(void **state) {
    (void)state;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        for (size_t i = 0; i < COUNT(factors) * CONTENTS; i += 3) {
            struct material material = any_material(i);
            material.width = 40 + below(60);
            material.height = 40 + below(60);
            struct buf file = make(&material);
            damage_often(&file, kind, TRIES / 10);
            buf_finish(&file);
        }
        report(kinds[kind].name);
    }
}

/* Across the ranges of several blocks. */
static void test_damage_of_large_files(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct material material = {.content = i % 2 ? MIXED : NOISE,
                                    .h = 2,
                                    .v = 2,
                                    .quality = 85,
                                    .restart = i / 2 ? 11 : 0,
                                    .width = 500,
                                    .height = 400};
        struct buf file = make(&material);
        assert_whole(&material, &file);
        for (size_t kind = 0; kind < COUNT(kinds); kind++) {
            damage_often(&file, kind, LARGE_TRIES / 4);
        }
        buf_finish(&file);
    }
    report("large files");
}

/* Markers and stuffing that come, go or change next to a border. */
static void test_damage_at_borders(void **state) {
    (void)state;
    static const uint8_t values[] = {0, 0xff, 0xd0, 0xd3, 0xd7, 0xd9, 0x40};
    for (size_t i = 0; i < BORDER_FILES; i += SANITIZED ? 8 : 1) {
        struct buf file = border_file(i);
        size_t border = scan_of(&file) + KERNEL_SYNC_RANGE;
        for (size_t n = 0; n < 2 * COUNT(values) && border + 8 < file.size; n++) {
            size_t at = border - 4 + below(8);
            uint8_t before[2] = {file.data[at], file.data[at + 1]};
            file.data[at] = values[n % COUNT(values)];
            file.data[at + 1] = n < COUNT(values) ? before[1] : values[below(COUNT(values))];
            compare(&file, "damage at a border");
            memcpy(file.data + at, before, sizeof before);
        }
        assert_int_equal(compare(&file, "restored"), ST_OK);
        buf_finish(&file);
    }
    report("borders");
}

/* A marker too many, between two bytes that are whole without it. */
static void test_markers_that_come_in_addition(void **state) {
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        struct material material = {.content = MIXED,
                                    .h = 2,
                                    .v = 2,
                                    .quality = 75,
                                    .restart = i % 2 ? 4 : 0,
                                    .width = 200,
                                    .height = 150};
        struct buf file = make(&material);
        size_t scan = scan_of(&file), size = file.size;
        for (unsigned n = 0; n < TRIES / 5; n++) {
            size_t at = scan + 1 + below((uint32_t)(size - scan - 4));
            if (file.data[at - 1] == 0xff) {
                continue;
            }
            struct buf longer;
            buf_init(&longer, FILE_MAX);
            const uint8_t marker[2] = {0xff, (uint8_t)(0xd0 + i / 2)};
            assert_int_equal(buf_append(&longer, file.data, at, NULL), ST_OK);
            assert_int_equal(buf_append(&longer, marker, sizeof marker, NULL), ST_OK);
            assert_int_equal(buf_append(&longer, file.data + at, size - at, NULL), ST_OK);
            assert_int_not_equal(compare(&longer, "a marker more"), ST_OK);
            buf_finish(&longer);
        }
        buf_finish(&file);
    }
    report("a marker more");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markers_that_come_in_addition),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damage_of_large_files),
        cmocka_unit_test(test_damage_at_borders),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
