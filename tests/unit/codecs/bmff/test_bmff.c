/* SPDX-License-Identifier: MIT */
#include "codecs/bmff/bmff.h"
#include "codecs/bmff/bmff_light.h"
#include "tests/unit/codecs/heic/heic_fixture.h"

static void test_next_stays_inside(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size, body, rest;
        bool found;
    } cases[] = {
        {"\0\0\0\x0A"
         "freeab..",
         12, 2, 2, true},
        {"\0\0\0\0freeab", 10, 2, 0, true}, /* to the end */
        {"\0\0\0\x20"
         "freeab",
         10, 2, 0, true}, /* cut */
        {"\0\0\0\1free\0\0\0\0\0\0\0\x11"
         "ab",
         18, 1, 1, true},
        {"\0\0\0\1free\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
         "ab",
         18, 2, 0, true},
        {"\0\0\0\1free\0\0\0\0\0\0\0\x0F", 16, 0, 0, false},
        {"\0\0\0\1free\0\0", 10, 0, 0, false},
        {"\0\0\0\7free", 8, 0, 0, false},
        {"\0\0\0\x08"
         "fre",
         7, 0, 0, false},
        {"", 0, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes rest = {(const uint8_t *)cases[i].bytes, cases[i].size};
        struct bmff_box box;
        assert_int_equal(bmff_next(&rest, &box), cases[i].found);
        if (cases[i].found) {
            assert_int_equal(box.type, bmff_type("free"));
            assert_int_equal(box.body.size, cases[i].body);
            assert_int_equal(rest.size, cases[i].rest);
        }
    }
}

static void test_look(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    struct buf file = heic_file("heic", items, NULL);
    struct bmff_facts facts;
    assert_true(bmff_look(buf_bytes(&file), &facts));
    assert_int_equal(facts.width, 32000); /* of the properties that all these files have */
    assert_int_equal(facts.height, 32000);
    for (size_t size = 0; size <= file.size; size++) {
        uint8_t *exact = malloc(size + 1);
        memcpy(exact, file.data, size);
        bmff_look((struct bytes){exact, size}, &facts);
        free(exact);
    }
    assert_false(facts.deep);
    uint8_t *size = memmem(file.data, file.size, "ispe", 4);
    memcpy(size, "pixi\0\0\0\0\3\20", 10); /* three channels, 16 bits of the first */
    assert_true(bmff_look(buf_bytes(&file), &facts));
    assert_int_equal(facts.channels, 3);
    assert_true(facts.deep);
    uint8_t *meta = memmem(file.data, file.size, "meta", 4);
    memcpy(meta, "free", 4);
    assert_false(bmff_look(buf_bytes(&file), &facts));
    assert_false(bmff_look((struct bytes){0}, &facts));
    buf_finish(&file);
}

static void test_brands(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    struct buf file = heic_file("abcd", items, NULL);
    assert_true(bmff_has_brand(buf_bytes(&file), "abcd"));
    assert_true(bmff_has_brand(buf_bytes(&file), "mif1"));
    assert_true(bmff_has_brand(buf_bytes(&file), "heic"));
    assert_false(bmff_has_brand(buf_bytes(&file), "meta"));
    assert_false(bmff_has_brand((struct bytes){file.data, 15}, "abcd"));
    buf_finish(&file);
}

/* Both chunks stand behind what the store held before. */
static void test_light_is_appended(void **state) {
    (void)state;
    struct bmff_light light = {.has_mastering = true, .has_levels = true};
    struct metadata metadata = {0};
    static const uint8_t before[] = "held before";
    memset(light.mastering, 1, sizeof light.mastering);
    memset(light.levels, 2, sizeof light.levels);
    buf_init(&metadata.store, 1 << 10);
    assert_int_equal(buf_reserve(&metadata.store, sizeof before + BMFF_LIGHT_SIZE, NULL), ST_OK);
    assert_int_equal(buf_append(&metadata.store, before, sizeof before, NULL), ST_OK);
    bmff_light_append(&light, &metadata);
    assert_int_equal(metadata.chunk_count, 2);
    assert_memory_equal(metadata.store.data, before, sizeof before);
    assert_int_equal(metadata.chunk[0].data.size, sizeof light.mastering);
    assert_memory_equal(metadata.chunk[0].data.data, light.mastering, sizeof light.mastering);
    assert_int_equal(metadata.chunk[1].data.size, sizeof light.levels);
    assert_memory_equal(metadata.chunk[1].data.data, light.levels, sizeof light.levels);
    buf_finish(&metadata.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_stays_inside),
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_brands),
        cmocka_unit_test(test_light_is_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
