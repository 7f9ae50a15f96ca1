/* SPDX-License-Identifier: MIT
 * The rule of docs/api.md for damaged JPEGs, the same for every kind of file and every way to read it:
 * surplus bytes before a marker are allowed, and scans whose header or order is unusual; a code that does not
 * exist, a missing block and a wrong restart marker are errors. */
#include "codecs/jpeg/jpeg_patch.h"

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

enum { WIDTH = 149, HEIGHT = 117, MARKERS = 2000 };

/* Large enough for libjpeg's faster loop, which needs 3072 bytes ahead. */
static const struct jpeg_recipe recipes[] = {
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:4:4"},
    {.name = "grey", .space = JCS_GRAYSCALE},
    {.name = "CMYK", .space = JCS_CMYK},
    {.name = "restarts", .luma = {2, 2}, .restart = 3},
    {.name = "a scan for each component", .luma = {2, 1}, .separate = true},
    {.name = "a scan for each component, restarts", .separate = true, .restart = 5},
    {.name = "progressive", .luma = {2, 2}, .progressive = true},
    {.name = "progressive, restarts", .luma = {2, 2}, .progressive = true, .restart = 4},
};

enum { RECIPES = sizeof(recipes) / sizeof(*recipes) };

static struct buf file_of(const struct jpeg_recipe *recipe) {
    struct jpeg_recipe sized = *recipe;
    sized.width = WIDTH;
    sized.height = HEIGHT;
    return recipe_file(&sized);
}

/* The results of reading a file in all three ways. */
struct outcome {
    enum status status[3]; /* planes as stored, pixels, coefficients to be patched */
    struct error err[3];
    struct image image[2];
    struct buf patched;
};

static enum status patch(struct bytes input, struct outcome *outcome) {
    struct codec_limits limits = fixture_limits();
    if (!fixture_probe(input).patchable) { /* as the others, then */
        outcome->err[2] = outcome->err[0];
        return outcome->status[0];
    }
    struct encode_options options = fixture_options();
    struct image mask = fixture_image(fixture_shape(PIXEL_GRAY, 8, WIDTH, HEIGHT));
    memset(mask.plane[0].data, 0, mask.plane[0].stride * HEIGHT);
    mask.plane[0].data[0] = 255;
    struct image result = fixture_painted(fixture_probe(input).native);
    enum status status =
        jpeg_patch(input, &limits, &result, &mask, &options, NULL, &outcome->patched, &outcome->err[2]);
    fixture_image_free(&mask);
    fixture_image_free(&result);
    return status;
}

static bool by_libjpeg; /* and not by the own decoders, which leave to it what they do not take */

static struct outcome read_all(const struct buf *file) {
    struct outcome outcome = {0};
    struct codec_limits limits = fixture_limits();
    limits.libjpeg = by_libjpeg;
    struct picture picture = fixture_probe(buf_bytes(file));
    const struct image_shape *shapes[2] = {&picture.native, &picture.pixels};
    for (int i = 0; i < 2; i++) {
        outcome.image[i] = fixture_image(*shapes[i]);
        outcome.status[i] =
            codec_decode(buf_bytes(file), &picture, &limits, &outcome.image[i], &outcome.err[i]);
    }
    buf_init(&outcome.patched, 1 << 24);
    outcome.status[2] = patch(buf_bytes(file), &outcome);
    return outcome;
}

static void free_outcome(struct outcome *outcome) {
    fixture_image_free(&outcome->image[0]);
    fixture_image_free(&outcome->image[1]);
    buf_finish(&outcome->patched);
}

static void assert_damaged(const struct buf *file, const char *name, const char *words) {
    struct outcome outcome = read_all(file);
    for (int i = 0; i < 3; i++) {
        if (outcome.status[i] != ST_CORRUPT || !strstr(outcome.err[i].text, words)) {
            fail_msg("%s, way %d: %d %s", name, i, outcome.status[i], outcome.err[i].text);
        }
    }
    free_outcome(&outcome);
}

/* Offsets of the markers behind the header: those that end data of a scan, or an interval of it. */
static unsigned find_ends(const struct buf *file, size_t *ends) {
    unsigned count = 0;
    size_t at = 2;
    while (file->data[at + 1] != JPEG_EOI) {
        bool scan = file->data[at + 1] == 0xDA;
        at += 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]);
        while (scan && (file->data[at] != 0xFF || file->data[at + 1] == 0 ||
                        (file->data[at + 1] & 0xF8) == JPEG_RST0)) {
            if (file->data[at] == 0xFF && file->data[at + 1] != 0) {
                ends[count++] = at;
            }
            at++;
        }
        if (scan) {
            ends[count++] = at;
        }
        assert_true(count < MARKERS);
    }
    return count;
}

static size_t first_scan(const struct buf *file) {
    const uint8_t *scan = memmem(file->data, file->size, "\xFF\xDA", 2);
    assert_non_null(scan);
    return (size_t)(scan - file->data) + 2 + scan[3];
}

static void assert_same(const struct outcome *a, const struct outcome *b, const char *name) {
    for (int i = 0; i < 3; i++) {
        if (b->status[i] != ST_OK) {
            fail_msg("%s, way %d: %s", name, i, b->err[i].text);
        }
    }
    for (int i = 0; i < 2; i++) {
        for (unsigned p = 0; p < a->image[i].plane_count; p++) {
            const struct plane *one = &a->image[i].plane[p], *other = &b->image[i].plane[p];
            for (uint32_t y = 0; y < one->height; y++) {
                assert_memory_equal(plane_row(one, y), plane_row(other, y),
                                    (size_t)one->width * one->channels);
            }
        }
    }
    assert_int_equal(a->patched.size, b->patched.size);
    assert_true(a->patched.size == 0 || memcmp(a->patched.data, b->patched.data, a->patched.size) == 0);
}

static void test_surplus_bytes_are_allowed(void **state) {
    (void)state;
    static const uint8_t surplus[] = "\x15\xFF\0 as some webcams leave them, \xFF\0 up to any number";
    static const size_t sizes[] = {1, 3, 17, sizeof(surplus)};
    for (size_t r = 0; r < RECIPES; r++) {
        struct buf file = file_of(&recipes[r]);
        struct outcome whole = read_all(&file);
        size_t ends[MARKERS];
        unsigned count = find_ends(&file, ends);
        for (unsigned i = count; i-- > 0;) {
            fixture_insert(&file, ends[i], surplus, sizes[i % 4]);
        }
        struct outcome outcome = read_all(&file);
        assert_same(&whole, &outcome, recipes[r].name);
        free_outcome(&whole);
        free_outcome(&outcome);
        buf_finish(&file);
    }
}

/* No code consists of ones alone: not the longest of 16 bits either. */
static void test_codes_that_do_not_exist(void **state) {
    (void)state;
    static const uint8_t ones[] = {0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0};
    for (size_t r = 0; r < RECIPES; r++) {
        struct buf file = file_of(&recipes[r]);
        size_t ends[MARKERS];
        find_ends(&file, ends);
        size_t begin = first_scan(&file), size = ends[0] - begin;
        for (size_t at = begin + 3; at + sizeof(ones) + 8 < ends[0]; at += size / 9 + 1) {
            uint8_t before[sizeof(ones)];
            memcpy(before, file.data + at, sizeof(ones));
            memcpy(file.data + at, ones, sizeof(ones));
            assert_damaged(&file, recipes[r].name, "bad Huffman code");
            memcpy(file.data + at, before, sizeof(ones));
        }
        buf_finish(&file);
    }
}

static void cut_out(struct buf *file, size_t at, size_t count) {
    memmove(file->data + at, file->data + at + count, file->size - at - count);
    file->size -= count;
}

/* The end of a scan, or of an interval, is cut off, its marker is not. */
static void test_missing_blocks(void **state) {
    (void)state;
    for (size_t r = 0; r < RECIPES; r++) {
        struct buf whole = file_of(&recipes[r]);
        size_t ends[MARKERS];
        unsigned count = find_ends(&whole, ends);
        for (unsigned i = 0; i < count; i += 1 + count / 12) {
            struct buf file = file_of(&recipes[r]);
            cut_out(&file, ends[i] - 9, 9);
            assert_damaged(&file, recipes[r].name, "damaged");
            buf_finish(&file);
        }
        buf_finish(&whole);
    }
}

static void test_restart_markers(void **state) {
    (void)state;
    for (size_t r = 0; r < RECIPES; r++) {
        if (recipes[r].restart == 0) {
            continue;
        }
        struct buf file = file_of(&recipes[r]);
        size_t ends[MARKERS];
        find_ends(&file, ends);
        file.data[ends[2] + 1] ^= 1;
        assert_damaged(&file, recipes[r].name, "damaged");
        file.data[ends[2] + 1] ^= 1;
        const uint8_t marker[2] = {0xFF, file.data[ends[2] + 1]};
        fixture_insert(&file, ends[2], marker, sizeof(marker)); /* twice */
        assert_damaged(&file, recipes[r].name, "damaged");
        cut_out(&file, ends[2], 4);
        assert_damaged(&file, recipes[r].name, "damaged");
        buf_finish(&file);
    }
}

/* A decoder of arithmetic codes reads zeros for ever behind any marker. */
static void test_a_marker_in_arithmetic_codes(void **state) {
    (void)state;
    const struct jpeg_recipe recipe = {.luma = {2, 2}, .arithmetic = true};
    struct buf file = file_of(&recipe);
    size_t begin = first_scan(&file);
    memcpy(file.data + begin + (file.size - begin) / 2, "\xFF\x62", 2);
    assert_damaged(&file, "arithmetic", "JPEG");
    buf_finish(&file);
}

/* A change of each scan's header. */
static void set_band(struct buf *file, const uint8_t *band) {
    for (size_t at = 0; at + 4 < file->size; at++) {
        if (file->data[at] == 0xFF && file->data[at + 1] == 0xDA) {
            memcpy(file->data + at + 2 + file->data[at + 3] - 3, band, 3);
        }
    }
}

/* A sequential scan has all coefficients, whatever its header says: phones of Samsung write other numbers. */
static void test_bands_of_sequential_scans(void **state) {
    (void)state;
    static const uint8_t bands[][3] = {{0, 0, 0}, {0, 63, 1}, {0, 63, 0x10}, {9, 2, 0xFF}};
    static const struct jpeg_recipe arithmetic = {.name = "arithmetic", .luma = {2, 2}, .arithmetic = true};
    for (size_t r = 0; r <= RECIPES; r++) {
        const struct jpeg_recipe *recipe = r < RECIPES ? &recipes[r] : &arithmetic;
        for (size_t i = 0; i < 2 * sizeof bands / sizeof bands[0] && !recipe->progressive; i++) {
            by_libjpeg = i % 2;
            struct buf file = file_of(recipe);
            struct outcome whole = read_all(&file);
            set_band(&file, bands[i / 2]);
            struct outcome outcome = read_all(&file);
            assert_same(&whole, &outcome, recipe->name);
            free_outcome(&whole);
            free_outcome(&outcome);
            buf_finish(&file);
        }
    }
    by_libjpeg = false;
}

/* A file whose transform of colours is that number of Adobe's marker alone, and no JFIF. */
static struct buf transformed_file(const struct jpeg_recipe *recipe, uint8_t transform) {
    struct buf file = file_of(recipe);
    const char segment[12] = {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, (char)transform};
    if (file.data[3] == 0xE0 || file.data[3] == 0xEE) {
        cut_out(&file, 2, 2 + (size_t)bytes_be16(file.data + 4));
    }
    fixture_segment(&file, 0xEE, segment, sizeof segment);
    return file;
}

/* Decoders take the usual one: YCbCr of three components, YCCK of four. */
static void test_unknown_transforms_of_colours(void **state) {
    (void)state;
    static const uint8_t unknown[] = {3, 255};
    for (size_t i = 0; i < RECIPES * 4; i++) {
        const struct jpeg_recipe *recipe = &recipes[i / 4];
        by_libjpeg = i & 1;
        struct buf known = transformed_file(recipe, recipe->space == JCS_CMYK ? 2 : 1);
        struct buf file = transformed_file(recipe, unknown[i >> 1 & 1]);
        struct outcome whole = read_all(&known), outcome = read_all(&file);
        assert_same(&whole, &outcome, recipe->name);
        free_outcome(&whole);
        free_outcome(&outcome);
        buf_finish(&known);
        buf_finish(&file);
    }
    by_libjpeg = false;
}

/* DC of all components, then AC of each, by Huffman or arithmetic coding. */
static struct buf scripted_file(bool arithmetic) {
    static const jpeg_scan_info script[] = {{3, {0, 1, 2}, 0, 0, 0, 0},
                                            {1, {0}, 1, 63, 0, 1},
                                            {1, {0}, 1, 63, 1, 0},
                                            {1, {1}, 1, 63, 0, 0},
                                            {1, {2}, 1, 63, 0, 0}};
    const struct jpeg_recipe recipe = {
        .luma = {2, 1}, .script = script, .scripted = 5, .progressive = true, .arithmetic = arithmetic};
    return file_of(&recipe);
}

/* The offset of a scan's tables, or without any of its header; behind the last scan that of the end. */
static size_t begin_of(const struct buf *file, unsigned number) {
    size_t at = 2, begin = 0;
    for (unsigned scans = 0; at < file->size - 2; at++) {
        uint8_t marker = file->data[at] == 0xFF ? file->data[at + 1] : 0;
        bool tables = marker == 0xC4 || marker == 0xCC;
        begin = (tables || marker == 0xDA) && begin == 0 ? at : begin;
        if (marker == 0xDA && scans++ == number) {
            return begin;
        }
        begin = marker == 0xDA ? 0 : begin;
        at += marker >= 0xC0 ? 1 + bytes_be16(file->data + at + 2) : 0;
    }
    return at;
}

/* Takes the first scan out, and puts it behind the others if `back`. */
static void move_first(struct buf *file, bool back) {
    size_t from = begin_of(file, 0), size = begin_of(file, 1) - from;
    uint8_t *scan = malloc(size);
    memcpy(scan, file->data + from, size);
    cut_out(file, from, size);
    if (back) {
        fixture_insert(file, file->size - 2, scan, size);
    }
    free(scan);
}

static void test_dc_behind_ac(void **state) {
    (void)state;
    for (unsigned arithmetic = 0; arithmetic < 2; arithmetic++) {
        struct buf file = scripted_file(arithmetic);
        struct outcome whole = read_all(&file);
        move_first(&file, true);
        struct outcome outcome = read_all(&file);
        assert_same(&whole, &outcome, "DC behind AC");
        free_outcome(&whole);
        free_outcome(&outcome);
        buf_finish(&file);
    }
}

static void test_no_dc(void **state) {
    (void)state;
    for (unsigned arithmetic = 0; arithmetic < 2; arithmetic++) {
        struct buf file = scripted_file(arithmetic);
        move_first(&file, false);
        assert_damaged(&file, "no DC", "a colour component has no DC scan");
        buf_finish(&file);
    }
}

/* The second scan of bits is the first one's: bits are missing, and others come twice. */
static void test_bits_that_do_not_follow(void **state) {
    (void)state;
    struct buf file = scripted_file(false);
    size_t from = begin_of(&file, 1), middle = begin_of(&file, 2);
    cut_out(&file, from, middle - from);
    assert_damaged(&file, "bits are missing", "progression");
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands_of_sequential_scans),
        cmocka_unit_test(test_unknown_transforms_of_colours),
        cmocka_unit_test(test_dc_behind_ac),
        cmocka_unit_test(test_no_dc),
        cmocka_unit_test(test_bits_that_do_not_follow),
        cmocka_unit_test(test_surplus_bytes_are_allowed),
        cmocka_unit_test(test_codes_that_do_not_exist),
        cmocka_unit_test(test_missing_blocks),
        cmocka_unit_test(test_restart_markers),
        cmocka_unit_test(test_a_marker_in_arithmetic_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
