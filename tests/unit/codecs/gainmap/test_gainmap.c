/* SPDX-License-Identifier: MIT
 * Where a gain map is found, and where it is not. */
#include "codecs/gainmap/gainmap.h"

#include "codecs/gainmap/gainmap_pictures.h"
#include "tests/unit/codecs/gainmap/gainmap_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct gainmap_numbers three = {.channels = 1,
                                             .headroom = 3 * GAINMAP_ONE,
                                             .channel = {{.max = GAINMAP_ONE, .gamma = GAINMAP_ONE},
                                                         {.max = GAINMAP_ONE, .gamma = GAINMAP_ONE},
                                                         {.max = GAINMAP_ONE, .gamma = GAINMAP_ONE}}};

struct layout {
    struct made_file file;
    size_t index, base, map; /* places: of the index, and behind the pictures */
};

/* A base with an index, filler, a map with a packet, filler. */
static void lay_out(struct layout *layout, size_t before, const char *packet, size_t behind) {
    struct made_file *file = &layout->file;
    static const uint8_t filler[64];
    *layout = (struct layout){0};
    begin_picture(file);
    layout->index = put_index(file);
    end_picture(file);
    layout->base = file->size;
    put_bytes(file, filler, before);
    size_t at = file->size;
    begin_picture(file);
    put_packet(file, packet);
    end_picture(file);
    layout->map = file->size;
    set_listed(file, layout->index, at, layout->map - at);
    put_bytes(file, filler, behind);
}

static enum gainmap_kind kind_of(const struct layout *layout, struct gainmap *map) {
    gainmap_find(made_bytes(&layout->file), map);
    return map->kind;
}

static void test_by_the_index(void **state) {
    (void)state;
    struct layout layout;
    struct gainmap map;
    for (unsigned i = 0; i < 4; i++) {
        lay_out(&layout, i & 1 ? 7 : 0, PACKET(MAP_NUMBERS, ""), i & 2 ? 9 : 0);
        assert_int_equal(kind_of(&layout, &map), GAINMAP_NUMBERS);
        assert_int_equal(map.file.size, layout.map - layout.base - (i & 1 ? 7 : 0));
        assert_ptr_equal(map.file.data + map.file.size, layout.file.data + layout.map);
        assert_int_equal(map.numbers.headroom, 3 * GAINMAP_ONE);
        assert_int_equal(map.numbers.channel[2].max, 2500000);
    }
}

/* A wrong index does not matter where the map stands directly behind the base, and else there is none. */
static void test_wrong_indices(void **state) {
    (void)state;
    for (unsigned before = 0; before < 2; before++) {
        struct layout layout;
        struct gainmap map;
        lay_out(&layout, before, PACKET(MAP_NUMBERS, ""), 0);
        const enum gainmap_kind expected = before ? GAINMAP_NONE : GAINMAP_NUMBERS;
        const size_t at = layout.base + before, size = layout.map - at;
        const struct {
            size_t at, size;
        } wrong[] = {{at + 1, size - 1},
                     {at, size - 1},
                     {at, size + 1},
                     {at, 0},
                     {at, UINT32_MAX},
                     {layout.index, size},
                     {at, 3},
                     {layout.file.size, 0},
                     {layout.file.size + 1, 0},
                     {layout.index + UINT32_MAX, size}};
        for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            set_listed(&layout.file, layout.index, wrong[i].at, wrong[i].size);
            assert_int_equal(kind_of(&layout, &map), expected);
        }
        set_listed(&layout.file, layout.index, at, size);
        assert_int_equal(kind_of(&layout, &map), GAINMAP_NUMBERS);
        layout.file.data[layout.index + 38 + 16] = 1; /* not in the format JPEG */
        assert_int_equal(kind_of(&layout, &map), expected);
    }
}

static void test_damaged_indices(void **state) {
    (void)state;
    struct layout layout;
    struct gainmap map;
    lay_out(&layout, 1, PACKET(MAP_NUMBERS, ""), 0);
    const struct made_file whole = layout.file;
    static const struct {
        unsigned at;
        uint8_t value;
    } damage[] = {{0, 'X'},   {3, 0},  {7, 200}, {7, 4},    {9, 0},
                  {22, 0xB1}, {25, 2}, {30, 1},  {33, 240}, {29, 15}};
    for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++) {
        layout.file = whole;
        layout.file.data[layout.index + damage[i].at] = damage[i].value;
        assert_int_equal(kind_of(&layout, &map), GAINMAP_NONE);
    }
}

/* A picture without its end is none, and neither is one that nothing announces. */
static void test_ends_and_announcements(void **state) {
    (void)state;
    struct layout layout;
    struct gainmap map;
    lay_out(&layout, 0, PACKET(MAP_NUMBERS, ""), 0);
    for (size_t cut = 1; cut <= layout.map - layout.base; cut++) {
        layout.file.size = layout.map - cut;
        assert_int_equal(kind_of(&layout, &map), GAINMAP_NONE);
        assert_int_equal(map.file.size, 0);
    }
    lay_out(&layout, 0, PACKET(MAP_NUMBERS, ""), 0);
    layout.file.data[layout.index - 2] = 'X'; /* of the index's name */
    assert_int_equal(kind_of(&layout, &map), GAINMAP_NONE);
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        const char *packet;
        enum gainmap_kind kind;
    } cases[] = {
        {PACKET("", ""), GAINMAP_NONE},
        {PACKET("hdrgm:Version=\"1.0\"", ""), GAINMAP_DAMAGED},
        {PACKET("a:b=\"urn:com:apple:photo:2020:aux:hdrgainmap\"", ""), GAINMAP_BARE},
        {PACKET("", "<a:b>urn:com:apple:photo:2020:aux:hdrgainmap</a:b>"), GAINMAP_BARE},
        {PACKET(MAP_NUMBERS, ""), GAINMAP_NUMBERS},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout layout;
        struct gainmap map;
        lay_out(&layout, 0, cases[i].packet, 0);
        assert_int_equal(kind_of(&layout, &map), cases[i].kind);
    }
}

/* Both forms in one map: ISO 21496-1 counts, also when it is damaged. */
static void test_both_forms(void **state) {
    (void)state;
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        struct made_file file = {0};
        struct gainmap map;
        begin_picture(&file);
        put_packet(&file, PACKET("hdrgm:Version=\"1.0\"", ""));
        end_picture(&file);
        begin_picture(&file);
        put_packet(&file, PACKET(MAP_NUMBERS, ""));
        size_t at = file.size + 4 + sizeof GAINMAP_ISO_NAME;
        put_iso(&file, &three);
        file.data[at + 1] = (uint8_t)damaged; /* the least version */
        end_picture(&file);
        gainmap_find(made_bytes(&file), &map);
        assert_int_equal(map.kind, damaged ? GAINMAP_DAMAGED : GAINMAP_NUMBERS);
        assert_true(damaged || map.numbers.channel[0].max == GAINMAP_ONE);
    }
}

static void test_sizes_of_pictures(void **state) {
    (void)state;
    struct made_file file = {0};
    assert_int_equal(gainmap_picture_size(made_bytes(&file)), 0);
    begin_picture(&file);
    put_segment(&file, 0xE4, "\xFF\xD9", 2, "\xFF\xD8\xFF", 3); /* markers inside a segment */
    end_picture(&file);
    size_t size = file.size;
    put_bytes(&file, "\xFF\xD9", 2);
    assert_int_equal(gainmap_picture_size(made_bytes(&file)), size);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(gainmap_picture_size((struct bytes){file.data, cut}), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_the_index),
        cmocka_unit_test(test_wrong_indices),
        cmocka_unit_test(test_damaged_indices),
        cmocka_unit_test(test_ends_and_announcements),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_both_forms),
        cmocka_unit_test(test_sizes_of_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
