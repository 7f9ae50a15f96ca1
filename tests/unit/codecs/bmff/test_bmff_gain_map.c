/* SPDX-License-Identifier: MIT
 * Which item is the gain map of a file's picture, and the copy that shows it. */
#include "codecs/bmff/bmff_gain_map.h"

#include "codecs/gainmap/gainmap_items.h"
#include "tests/unit/codecs/heic/heic_fixture.h"

#define TONE(text)                                                                                           \
    { "tmap", HEIC_TEXT(text), "s", NULL }
/* Version, versions, flags (the colours of the base), and as ratios of 1: headrooms 0 and 2, of the map 0 to
 * 3, gamma 1, offsets 0. */
#define NUMBERS                                                                                              \
    "\0\0\0\0\0\x40\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\1"         \
    "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1"

static struct bmff_items read(const struct buf *file) {
    struct bmff_items items;
    assert_int_equal(bmff_items_read(&items, buf_bytes(file), "HEIC", NULL), ST_OK);
    return items;
}

static const struct found_case {
    struct heic_item_spec items[5];
    struct heic_reference_spec references[5];
    uint32_t picture, whole; /* 0: there is none */
} found_cases[] = {
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{"dimg", 3, 2, {1, 2}}}, 2, 3},
    {{HEIC_COLOUR("cs"), HEIC_MONO("msx"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 2, 2},
    /* both: the tone map counts */
    {{HEIC_COLOUR("cs"), HEIC_MONO("msx"), TONE(NUMBERS), HEIC_MONO("ms"), HEIC_END},
     {{"auxl", 2, 2, {3, 1}}, {"dimg", 3, 2, {1, 4}}},
     4,
     3},
    /* another picture's, the picture itself, nothing */
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{"dimg", 3, 2, {2, 1}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{"dimg", 3, 2, {1, 1}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{"dimg", 3, 2, {1, 9}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{"dimg", 3, 1, {1}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_END}, {{NULL, 0, 0, {0}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(""), HEIC_END}, {{"dimg", 3, 2, {1, 2}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("msx"), HEIC_END}, {{"thmb", 2, 1, {1}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("msx"), HEIC_END}, {{"auxl", 2, 1, {2}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("msa"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 0, 0},
    /* turned, mirrored and cropped alike, or not */
    {{HEIC_COLOUR("csrip"), HEIC_MONO("msripx"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 2, 2},
    {{HEIC_COLOUR("csr"), HEIC_MONO("msx"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 0, 0},
    {{HEIC_COLOUR("cs"), HEIC_MONO("msix"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 0, 0},
    {{HEIC_COLOUR("csp"), HEIC_MONO("msx"), HEIC_END}, {{"auxl", 2, 1, {1}}}, 0, 0},
};

static void test_finding(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof found_cases / sizeof *found_cases; i++) {
        const struct found_case *one = &found_cases[i];
        struct buf file = heic_file("heic", one->items, one->references);
        struct bmff_items items = read(&file);
        struct bmff_gain_map map;
        bool found = bmff_gain_map_find(&items, &map);
        assert_int_equal(found, one->picture > 0);
        assert_true(!found || (map.picture == one->picture && map.whole == one->whole));
        bmff_items_finish(&items);
        buf_finish(&file);
    }
}

/* The copy's picture is the map, although that was hidden; all else is as it was. */
static void test_copies(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof found_cases / sizeof *found_cases; i++) {
        const struct found_case *one = &found_cases[i];
        struct buf file = heic_file("heic", one->items, one->references), copy;
        uint8_t *listed = memmem(file.data, file.size, "infe\2\0\0\0\0\2", 10);
        struct error err = {0};
        assert_non_null(listed);
        listed[7] = 1;
        enum status status = bmff_gain_map_file(buf_bytes(&file), "HEIC", &copy, &err);
        assert_int_equal(status, one->picture ? ST_OK : ST_UNSUPPORTED);
        if (status == ST_OK) {
            struct bmff_items items = read(&copy);
            unsigned changed = 0;
            assert_int_equal(copy.size, file.size);
            assert_int_equal(items.primary, one->picture);
            assert_int_equal(copy.data[listed + 7 - file.data], one->picture != 2);
            for (size_t at = 0; at < file.size; at++) {
                changed += copy.data[at] != file.data[at];
            }
            assert_int_equal(changed, one->picture == 2 ? 2 : 1);
            bmff_items_finish(&items);
        }
        buf_finish(&copy);
        buf_finish(&file);
    }
}

/* libavif decodes the tracks of a file that has some. */
static void test_tracks(void **state) {
    (void)state;
    struct buf file = heic_file("heic", found_cases[0].items, found_cases[0].references), copy;
    assert_int_equal(buf_append(&file, "\0\0\0\x08moov", 8, NULL), ST_OK);
    assert_int_equal(bmff_gain_map_file(buf_bytes(&file), "HEIC", &copy, NULL), ST_UNSUPPORTED);
    buf_finish(&copy);
    buf_finish(&file);
}

static void test_cut_files(void **state) {
    (void)state;
    struct buf file = heic_file("heic", found_cases[0].items, found_cases[0].references), copy;
    for (size_t size = 0; size < file.size; size++) {
        struct gainmap map;
        bmff_gain_map_file((struct bytes){file.data, size}, "HEIC", &copy, NULL);
        buf_finish(&copy);
        gainmap_find_item((struct bytes){file.data, size}, (struct bytes){0}, &map);
        assert_true(map.kind != GAINMAP_NUMBERS || gainmap_numbers_fit(&map.numbers));
    }
    buf_finish(&file);
}

static void test_numbers(void **state) {
    (void)state;
    struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_MONO("ms"), TONE(NUMBERS), HEIC_MONO("ms"),
                                     HEIC_END};
    const struct heic_reference_spec references[] = {{"dimg", 3, 2, {1, 2}}, {NULL, 0, 0, {0}}};
    struct gainmap map;
    for (unsigned more = 0; more < 2; more++) { /* a further picture is not the map's */
        items[3].type = more ? items[3].type : NULL;
        if (more) {
            items[3] = (struct heic_item_spec)HEIC_MONO("ms");
        }
        struct buf file = heic_file("heic", items, references);
        gainmap_find_item(buf_bytes(&file), (struct bytes){0}, &map);
        assert_int_equal(map.kind, GAINMAP_NUMBERS);
        assert_int_equal(map.numbers.headroom, 2 * GAINMAP_ONE);
        assert_int_equal(map.numbers.channel[0].max, 3 * GAINMAP_ONE);
        assert_int_equal(map.alone, !more);
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finding),   cmocka_unit_test(test_copies),  cmocka_unit_test(test_tracks),
        cmocka_unit_test(test_cut_files), cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
