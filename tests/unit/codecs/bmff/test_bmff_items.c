/* SPDX-License-Identifier: MIT
 * The items of a file as its boxes list them, without a decoder behind that refuses the same. */
#include "codecs/bmff/bmff_items.h"
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/heic/heic_fixture.h"

enum { VERSION = 1, IN_FILE = 0, IN_IDAT = 1, IN_ITEM = 2, BASE = 3 };

struct entry {
    unsigned id, method, extents, offset, length; /* a second extent has other numbers */
};

/* `iloc` with a base offset of BASE for each entry, behind the items 1 and 2. */
static struct buf file_with(const struct entry *entries, unsigned stated, bool idat) {
    static const struct heic_item_spec items[] = {
        {"hvc1", {NULL, 0}, NULL, NULL}, {"hvc1", {NULL, 0}, NULL, NULL}, HEIC_END};
    struct buf file;
    buf_init(&file, 1 << 16);
    size_t meta = heic_open_full(&file, "meta", 0), pitm = heic_open_full(&file, "pitm", 0);
    heic_number(&file, 1, 2);
    heic_close(&file, pitm);
    heic_put_list(&file, items);
    size_t iloc = heic_open_full(&file, "iloc", VERSION);
    heic_number(&file, 0x4440, 2);
    heic_number(&file, stated, 2);
    for (; entries->id; entries++) {
        heic_number(&file, entries->id, 2);
        heic_number(&file, entries->method, 2);
        heic_number(&file, 0, 2);
        heic_number(&file, BASE, 4);
        heic_number(&file, entries->extents, 2);
        for (unsigned i = 0; i < entries->extents; i++) {
            heic_number(&file, entries->offset + i, 4);
            heic_number(&file, entries->length + i, 4);
        }
    }
    heic_close(&file, iloc);
    if (idat) {
        size_t at = heic_open(&file, "idat");
        heic_text(&file, "0123456789");
        heic_close(&file, at);
    }
    heic_close(&file, meta);
    return file;
}

static struct bmff_items read(const struct buf *file) {
    struct bmff_items items;
    struct error err;
    assert_int_equal(bmff_items_read(&items, buf_bytes(file), "HEIC", &err), ST_OK);
    return items;
}

/* Text that the data of an item must be; "" for no data. */
static void check(const struct bmff_items *items, uint32_t id, const char *text) {
    const struct bmff_item *item = bmff_items_find(items, id);
    assert_non_null(item);
    assert_int_equal(item->data.size, strlen(text));
    assert_memory_equal(item->data.size ? (const char *)item->data.data : "", text, strlen(text));
    assert_true(item->data.size > 0 || item->data.data == NULL);
}

static void test_places_of_data(void **state) {
    (void)state;
    static const struct {
        struct entry entries[3];
        unsigned stated;
        bool no_idat;
        const char *first, *second;
    } cases[] = {
        {{{1, IN_IDAT, 1, 1, 2}, {2, IN_IDAT, 1, 4, 3}}, 2, false, "45", "789"},
        {{{1, IN_FILE, 1, 1, 4}, {2, IN_IDAT, 2, 0, 7}}, 2, false, "meta", "3456789"}, /* the first extent */
        {{{1, IN_IDAT, 1, 1, 2}, {1, IN_IDAT, 1, 2, 3}}, 2, false, "45", ""},          /* the first entry */
        {{{1, IN_IDAT, 1, 1, 2}, {2, IN_IDAT, 1, 4, 3}}, 1, false, "45", ""}, /* as many as it states */
        {{{1, IN_IDAT, 1, 1, 2}}, 2, false, "45", ""},
        {{{1, IN_ITEM, 1, 1, 2}, {2, 15, 1, 1, 2}}, 2, false, "", ""},      /* of other items */
        {{{1, IN_IDAT, 1, 4, 4}, {2, IN_IDAT, 1, 8, 1}}, 2, false, "", ""}, /* beyond the end */
        {{{1, IN_IDAT, 1, 1, 2}, {2, IN_IDAT, 0, 0, 0}}, 2, true, "", ""},
        {{{9, IN_IDAT, 1, 1, 2}, {2, IN_IDAT, 1, 1, 2}}, 2, false, "", "45"}, /* of no item */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = file_with(cases[i].entries, cases[i].stated, !cases[i].no_idat);
        struct bmff_items items = read(&file);
        check(&items, 1, cases[i].first);
        check(&items, 2, cases[i].second);
        bmff_items_finish(&items);
        buf_finish(&file);
    }
}

/* A number of nine bytes or more, and a version that is not known: no item has data. */
static void test_locations_that_cannot_be_read(void **state) {
    (void)state;
    /* Zeros enough behind the first one, so that nothing else refuses. */
    static const struct entry entries[] = {
        {1, IN_IDAT, 1, 0, 0}, {2, IN_IDAT, 1, 0, 0}, {2, IN_IDAT, 1, 0, 0}, {0}};
    static const struct {
        size_t at; /* behind the box's name */
        uint8_t byte;
    } cases[] = {{4, 0x94}, {4, 0x49}, {5, 0x90}, {5, 0x49}, {0, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = file_with(entries, 1, true);
        uint8_t *iloc = memmem(file.data, file.size, "iloc", 4);
        iloc[4 + cases[i].at] = cases[i].byte;
        struct bmff_items items = read(&file);
        assert_false(bmff_items_find(&items, 1)->located);
        check(&items, 1, "");
        bmff_items_finish(&items);
        buf_finish(&file);
    }
}

static void test_other_boxes_are_no_items(void **state) {
    (void)state;
    static const struct entry entries[] = {{2, IN_IDAT, 1, 1, 2}, {0}};
    struct buf file = file_with(entries, 1, true);
    uint8_t *first = memmem(file.data, file.size, "infe", 4);
    uint8_t *second = memmem(first + 4, file.size - (size_t)(first + 4 - file.data), "infe", 4);
    memcpy(second, "free", 4);
    struct bmff_items items = read(&file);
    assert_int_equal(items.count, 1);
    assert_null(bmff_items_find(&items, 2));
    bmff_items_finish(&items);
    buf_finish(&file);
}

static unsigned losses(const struct heic_item_spec *specs, const struct heic_reference_spec *references) {
    struct buf file = heic_file("heic", specs, references);
    struct bmff_items items = read(&file);
    unsigned found = bmff_items_losses(&items);
    bmff_items_finish(&items);
    buf_finish(&file);
    return found;
}

static void test_pictures_beside_the_primary_one(void **state) {
    (void)state;
    static const struct {
        struct heic_item_spec second;
        struct heic_reference_spec references[3];
        unsigned losses;
    } cases[] = {
        {HEIC_COLOUR("cs"), {{0}}, LOSS_PICTURES},
        {HEIC_COLOUR("cs"), {{"thmb", 2, 1, {1}}}, LOSS_THUMBNAIL},
        {HEIC_COLOUR("cs"), {{"dimg", 1, 1, {2}}}, 0},
        {HEIC_COLOUR("cs"), {{"dimg", 1, 1, {2}}, {"dimg", 2, 1, {1}}}, 0}, /* a circle */
        {HEIC_COLOUR("cs"), {{"dimg", 1, 1, {2}}, {"thmb", 2, 1, {1}}}, 0}, /* shown, too */
        {HEIC_COLOUR("cs"), {{"dimg", 9, 1, {1}}}, LOSS_PICTURES},          /* from no item */
        {{"tmap", {NULL, 0}, NULL, NULL}, {{0}}, LOSS_PICTURES},            /* without a size */
        {{"mime", {NULL, 0}, NULL, "text/plain"}, {{0}}, 0},
        {{"mime", {NULL, 0}, NULL, "text/plain"}, {{"thmb", 2, 1, {1}}}, 0},
        {HEIC_MONO("msa"), {{"auxl", 2, 1, {1}}}, 0},
        {HEIC_MONO("msa"), {{"auxl", 2, 2, {9, 1}}}, 0},
        {HEIC_MONO("msa"), {{"auxl", 2, 1, {2}}}, LOSS_PICTURES}, /* alpha of what is not shown */
        {HEIC_MONO("msa"), {{"cdsc", 2, 1, {1}}}, LOSS_PICTURES}, /* refers in another way */
        {HEIC_MONO("msx"), {{"auxl", 2, 1, {1}}}, LOSS_PICTURES}, /* no alpha: a gain map */
        {HEIC_MONO("msa"), {{"auxl", 9, 1, {1}}}, LOSS_PICTURES}, /* from no item */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), cases[i].second, HEIC_END};
        assert_int_equal(losses(items, cases[i].references), cases[i].losses);
    }
}

static void test_gain_maps(void **state) {
    (void)state;
    static const struct {
        struct heic_item_spec second;
        bool found;
    } cases[] = {{HEIC_COLOUR("cs"), false},
                 {HEIC_MONO("msa"), false}, /* alpha */
                 {HEIC_MONO("msx"), true},
                 {{"tmap", {NULL, 0}, NULL, NULL}, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct heic_item_spec specs[] = {HEIC_COLOUR("cs"), cases[i].second, HEIC_END};
        struct buf file = heic_file("heic", specs, NULL);
        struct bmff_items items = read(&file);
        assert_int_equal(bmff_items_have_gain_map(&items), cases[i].found);
        bmff_items_finish(&items);
        buf_finish(&file);
    }
}

/* A chain of pictures that are made of the next one: eight are looked through. */
static void test_depth_has_a_limit(void **state) {
    (void)state;
    struct heic_item_spec items[] = {
        HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"),
        HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    struct heic_reference_spec references[9] = {{0}};
    for (unsigned i = 0; i < 8; i++) {
        references[i] = (struct heic_reference_spec){"dimg", i + 1, 1, {i + 2}};
    }
    assert_int_equal(losses(items, references), LOSS_PICTURES);
    items[8] = (struct heic_item_spec)HEIC_END;
    references[7] = (struct heic_reference_spec){0};
    assert_int_equal(losses(items, references), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_of_data),
        cmocka_unit_test(test_locations_that_cannot_be_read),
        cmocka_unit_test(test_other_boxes_are_no_items),
        cmocka_unit_test(test_pictures_beside_the_primary_one),
        cmocka_unit_test(test_depth_has_a_limit),
        cmocka_unit_test(test_gain_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
