/* SPDX-License-Identifier: MIT
 * HEIC pictures that are made of others: what they cost is known before anything is decoded. */
#include "tests/unit/codecs/heic/heic_fixture.h"

#include <time.h>

#include "codecs/heic/heic_check.h"

enum { CANVAS = 14, PLACE = 4, LAYERS_MAX = 9000, OTHERS_MAX = 20001, ITEMS_MAX = 2000 };

/* Of 64 x 64 pixels, or what is put there, with room for the places of layers, all of which are 0. */
static uint8_t overlay[CANVAS + PLACE * LAYERS_MAX] = {[11] = 64, [13] = 64};

#define OVERLAY                                                                                              \
    { "iovl", {overlay, sizeof(overlay)}, "s", NULL }
#define SAME                                                                                                 \
    { "iden", HEIC_TEXT("x"), "s", NULL }

/* Of our own check alone: newer versions of libheif have limits of theirs, 1000 references for example. */
static enum status probe(struct bytes file, struct error *err) {
    struct codec_limits limits = fixture_limits();
    struct heic_facts facts;
    struct buf mended = {0};
    *err = (struct error){0};
    enum status status = heic_check(file, &limits, &facts, &mended, err);
    buf_finish(&mended);
    return status;
}

static enum status check(const struct heic_item_spec *items, const struct heic_reference_spec *references,
                         struct error *err) {
    struct buf file = heic_file("heic", items, references);
    enum status status = probe(buf_bytes(&file), err);
    buf_finish(&file);
    return status;
}

static void check_refused(const struct heic_item_spec *items, const struct heic_reference_spec *references,
                          enum status expected, const char *words) {
    struct error err;
    assert_int_equal(check(items, references, &err), expected);
    assert_non_null(strstr(err.text, words));
}

/* 6 KB that would be decoded for seconds. */
static void test_layers_are_counted(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {OVERLAY, HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_reference_spec some[] = {{"dimg", 1, 2000, {2, 2, 2, 2}}, {0}};
    static const struct heic_reference_spec many[] = {{"dimg", 1, 3000, {2, 2, 2, 2}}, {0}};
    static const struct heic_reference_spec most[] = {{"dimg", 1, 8193, {2, 2, 2, 2}}, {0}};
    struct error err;
    assert_int_equal(check(items, some, &err), ST_OK);
    check_refused(items, many, ST_LIMIT, "12288000 pixels in all");
    check_refused(items, most, ST_LIMIT, "over 8192");
}

/* Pixels are no measure for noise: 16 KB took seconds, as the decoder reads the same bytes for each layer. */
static void test_bytes_that_are_read_again_are_counted(void **state) {
    (void)state;
    enum { ROOM = 1 << 20, SIZE = 10000, ENOUGH = ROOM / SIZE, TOO_MANY = ENOUGH + 100 };
    static const uint8_t noise[SIZE] = {1};
    static const struct heic_item_spec items[] = {OVERLAY, {"hvc1", {noise, SIZE}, "cs", NULL}, HEIC_END};
    static const struct heic_item_spec veiled[] = {
        OVERLAY, {"hvc1", HEIC_TEXT("x"), "cs", NULL}, {"hvc1", {noise, SIZE}, "msa", NULL}, HEIC_END};
    static const struct heic_reference_spec some[] = {{"dimg", 1, ENOUGH, {2, 2, 2, 2}}, {0}};
    static const struct heic_reference_spec many[] = {{"dimg", 1, TOO_MANY, {2, 2, 2, 2}}, {0}};
    static const struct heic_reference_spec alpha[] = {
        {"dimg", 1, TOO_MANY, {2, 2, 2, 2}}, {"auxl", 3, 1, {2}}, {0}};
    struct error err;
    assert_int_equal(check(items, some, &err), ST_OK);
    check_refused(items, many, ST_LIMIT, "with 2040000 in all: it has some more than once");
    check_refused(veiled, alpha, ST_LIMIT, "it has some more than once");
}

/* libheif 1.15 takes any number of references, versions from 1.19 on no more than 1000. */
static void test_the_librarys_limits_are_limits(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {OVERLAY, HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_reference_spec references[] = {{"dimg", 1, 2000, {2, 2, 2, 2}}, {0}};
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    struct buf file = heic_file("heic", items, references);
    enum status status = codec_probe(buf_bytes(&file), &limits, &picture, &err);
    buf_finish(&file);
    if (status == ST_OK) {
        codec_picture_finish(&picture);
    } else {
        assert_int_equal(status, ST_LIMIT);
    }
}

static void test_layers_in_layers_are_counted_again(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {OVERLAY, OVERLAY, HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_reference_spec references[] = {
        {"dimg", 1, 100, {2, 2, 2, 2}}, {"dimg", 2, 100, {3, 3, 3, 3}}, {0}};
    check_refused(items, references, ST_LIMIT, "40960000 pixels in all");
}

/* libheif decodes the alpha of a layer with each use of the layer. */
static void test_alpha_of_layers_is_counted(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {OVERLAY, HEIC_COLOUR("cs"), HEIC_MONO("msa"), HEIC_END};
    static const struct heic_reference_spec references[] = {
        {"dimg", 1, 1500, {2, 2, 2, 2}}, {"auxl", 3, 1, {2}}, {0}};
    check_refused(items, references, ST_LIMIT, "12288000 pixels in all");
}

static void test_the_canvas_is_as_stated(void **state) {
    (void)state;
    static uint8_t large[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3E, 0x80, 0x3E, 0x80, 0, 0, 0, 0};
    static const struct heic_reference_spec references[] = {{"dimg", 1, 1, {2}}, {0}};
    static const struct heic_item_spec other[] = {
        {"iovl", HEIC_BYTES(large), "s", NULL}, HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_item_spec empty[] = {
        {"iovl", HEIC_TEXT("short"), "s", NULL}, HEIC_COLOUR("cs"), HEIC_END};
    check_refused(other, references, ST_CORRUPT, "overlay");
    check_refused(empty, references, ST_CORRUPT, "overlay");
}

/* Each of the 5400 visits once looked at each of the 19000 references. */
static void test_references_are_read_once(void **state) {
    (void)state;
    enum { OTHERS = 19000, LAYERS = 1800 };
    static const struct heic_item_spec items[] = {OVERLAY, SAME, SAME, HEIC_COLOUR("cs"), HEIC_END};
    static struct heic_reference_spec references[OTHERS + 4];
    for (unsigned i = 0; i < OTHERS; i++) {
        references[i] = (struct heic_reference_spec){"dimg", 60000, 1, {1}};
    }
    references[OTHERS] = (struct heic_reference_spec){"dimg", 1, LAYERS, {2, 2, 2, 2}};
    references[OTHERS + 1] = (struct heic_reference_spec){"dimg", 2, 1, {3}};
    references[OTHERS + 2] = (struct heic_reference_spec){"dimg", 3, 1, {4}};
    struct error err;
    clock_t begin = clock();
    assert_int_equal(check(items, references, &err), ST_OK);
    assert_true(clock() - begin < CLOCKS_PER_SEC / 4);
}

static void test_very_many_references(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    static struct heic_reference_spec references[OTHERS_MAX + 1];
    for (unsigned i = 0; i < OTHERS_MAX; i++) {
        references[i] = (struct heic_reference_spec){"cdsc", 1, 1, {1}};
    }
    check_refused(items, references, ST_LIMIT, "more than 20000 references");
}

/* libheif took 2 seconds for 5000 items, and 4 seconds with 20000 references. */
static void test_very_many_items(void **state) {
    (void)state;
    enum { OTHERS = 5001 };
    static struct heic_item_spec items[ITEMS_MAX + 2];
    static struct heic_reference_spec references[OTHERS + 1];
    for (unsigned i = 0; i < ITEMS_MAX + 1; i++) {
        items[i] = i ? (struct heic_item_spec)SAME : (struct heic_item_spec)HEIC_COLOUR("cs");
    }
    for (unsigned i = 0; i < OTHERS; i++) {
        references[i] = (struct heic_reference_spec){"cdsc", 2, 1, {1}};
    }
    check_refused(items, NULL, ST_LIMIT, "2001 items; the limit is 2000");
    items[ITEMS_MAX] = (struct heic_item_spec){0};
    check_refused(items, references, ST_LIMIT, "more than 5000 references between 2000 items");
    struct error err;
    references[OTHERS - 1] = (struct heic_reference_spec){0};
    assert_int_equal(check(items, references, &err), ST_OK);
}

/* Another reader could take the other of the two. */
static void test_two_items_of_one_number(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    struct buf file = heic_file("heic", items, NULL);
    struct error err;
    uint8_t *first = memmem(file.data, file.size, "infe", 4);
    uint8_t *second = memmem(first + 4, file.size - (size_t)(first + 4 - file.data), "infe", 4);
    second[9] = 1;
    assert_int_equal(probe(buf_bytes(&file), &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "number 1"));
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_counted),
        cmocka_unit_test(test_bytes_that_are_read_again_are_counted),
        cmocka_unit_test(test_the_librarys_limits_are_limits),
        cmocka_unit_test(test_layers_in_layers_are_counted_again),
        cmocka_unit_test(test_alpha_of_layers_is_counted),
        cmocka_unit_test(test_the_canvas_is_as_stated),
        cmocka_unit_test(test_references_are_read_once),
        cmocka_unit_test(test_very_many_references),
        cmocka_unit_test(test_very_many_items),
        cmocka_unit_test(test_two_items_of_one_number),
    };
    enum { SKIPPED = 77 };
    return codec_decodes(CODEC_HEIC) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
