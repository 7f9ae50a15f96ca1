/* SPDX-License-Identifier: MIT
 * Palettes, samples of less than 8 bits and transparent colours: the fast way gives libpng's pixels, and
 * takes only files of which that is known. */
#include "tests/unit/codecs/png/png_ways_fixture.h"

enum { GREY = 0, RGB = 2, INDEXED = 3, PALETTE_MAX = 3 * 256 };

struct kind {
    uint8_t color_type, depth;
};

static const struct kind kinds[] = {{GREY, 1},    {GREY, 2},    {GREY, 4},   {GREY, 8},
                                    {GREY, 16},   {RGB, 8},     {RGB, 16},   {INDEXED, 1},
                                    {INDEXED, 2}, {INDEXED, 4}, {INDEXED, 8}};

/* A file of random rows with all filters. `few`: most bytes are zero, so that colours are met again. */
static void put_random_pixels(struct buf *file, struct kind kind, uint32_t width, uint32_t height, bool few) {
    const size_t line = 1 + ((size_t)width * channels_of(kind.color_type) * kind.depth + 7) / 8;
    uint8_t *rows = malloc(line * height);
    for (size_t i = 0; i < line * height; i++) {
        const unsigned value = few && random_byte() % 8 ? 0 : random_byte();
        rows[i] = (uint8_t)(i % line ? value : i / line % (few ? 3 : 5));
    }
    put_pixels(file, rows, line * height);
    free(rows);
}

static void put_palette(struct buf *file, size_t colours) {
    uint8_t palette[PALETTE_MAX + 3];
    for (size_t i = 0; i < sizeof palette; i++) {
        palette[i] = random_byte();
    }
    put_chunk(file, "PLTE", palette, 3 * colours);
}

static void check(const struct buf *file, bool whole, const char *what) {
    if (check_agreement(buf_bytes(file)) != ST_OK || is_decoded_whole(buf_bytes(file)) != whole) {
        fail_msg("%s", what);
    }
}

static void check_kind(struct kind kind, uint32_t width, uint32_t height, size_t colours, size_t alphas) {
    static const uint8_t clear[6] = {0}; /* a colour that is often met */
    uint8_t some[256];
    for (size_t i = 0; i < sizeof some; i++) {
        some[i] = random_byte();
    }
    for (int few = 0; few <= 1; few++) {
        struct buf file = put_start(width, height, kind.depth, kind.color_type, false);
        if (kind.color_type == INDEXED) {
            put_palette(&file, colours);
        }
        if (alphas > 0) {
            put_chunk(&file, "tRNS", few && kind.color_type != INDEXED ? clear : some, alphas);
        }
        put_random_pixels(&file, kind, width, height, few);
        check(&file, true, "a kind of file");
        buf_finish(&file);
    }
}

static void test_every_kind_decodes_alike(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},  {1, 9},   {7, 3},   {8, 2},
                                        {63, 5}, {64, 64}, {65, 17}, {3000, 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds * 8; i++) {
        const struct kind kind = kinds[i / 8];
        const uint32_t width = sizes[i % 8][0], height = sizes[i % 8][1];
        if (kind.color_type == INDEXED) {
            const size_t most = (size_t)1 << kind.depth;
            check_kind(kind, width, height, most, 0);
            check_kind(kind, width, height, most, most);
            check_kind(kind, width, height, most, 1);
            check_kind(kind, width, height, most / 2, 0); /* indices that it lacks */
            check_kind(kind, width, height, 1, 1);
            check_kind(kind, width, height, 256, 0);
        } else {
            check_kind(kind, width, height, 0, kind.color_type == RGB ? 6 : 2);
            check_kind(kind, width, height, 0, 0);
        }
    }
}

/* Chunks before the pixels of a picture of indices, or of grey. */
struct order {
    const char *what;
    struct {
        const char *name;
        size_t size;
    } chunk[4];
    uint8_t color_type;
    bool whole;
    enum status status;
};

static const struct order orders[] = {
    {"a palette", {{"PLTE", 48}}, INDEXED, true, ST_OK},
    {"no palette", {{"gAMA", 4}}, INDEXED, false, ST_CORRUPT},
    {"an empty palette", {{"PLTE", 0}}, INDEXED, false, ST_CORRUPT},
    {"a palette with a part of a colour", {{"PLTE", 47}}, INDEXED, false, ST_CORRUPT},
    {"a palette of 257 colours", {{"PLTE", 771}}, INDEXED, false, ST_CORRUPT},
    {"two palettes", {{"PLTE", 48}, {"PLTE", 48}}, INDEXED, false, ST_CORRUPT},
    {"chunks around the palette", {{"gAMA", 4}, {"PLTE", 48}, {"teSt", 4}}, INDEXED, true, ST_OK},
    {"alphas before the palette", {{"tRNS", 3}, {"PLTE", 48}}, INDEXED, false, ST_OK},
    {"alphas on both sides", {{"tRNS", 3}, {"PLTE", 48}, {"tRNS", 3}}, INDEXED, false, ST_OK},
    {"alphas twice", {{"PLTE", 48}, {"tRNS", 3}, {"tRNS", 5}}, INDEXED, false, ST_OK},
    {"no alphas, then some", {{"PLTE", 48}, {"tRNS", 0}, {"tRNS", 5}}, INDEXED, true, ST_OK},
    {"more alphas than colours", {{"PLTE", 9}, {"tRNS", 4}}, INDEXED, false, ST_OK},
    {"more alphas, then some", {{"PLTE", 9}, {"tRNS", 4}, {"tRNS", 2}}, INDEXED, false, ST_OK},
    {"grey with a palette", {{"PLTE", 48}}, GREY, false, ST_OK},
    {"grey with a colour that is transparent", {{"tRNS", 6}}, GREY, false, ST_OK},
    {"grey with an odd number of bytes", {{"tRNS", 3}, {"tRNS", 2}}, GREY, false, ST_OK},
};

static void test_order_of_chunks_is_judged_as_libpng_does(void **state) {
    (void)state;
    static const uint8_t data[PALETTE_MAX + 3] = {7, 8, 9, 200};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct order *order = &orders[i];
        const struct kind kind = {order->color_type, 4};
        struct buf file = put_start(21, 5, kind.depth, kind.color_type, false);
        for (unsigned k = 0; k < 4 && order->chunk[k].name; k++) {
            put_chunk(&file, order->chunk[k].name, data, order->chunk[k].size);
        }
        put_random_pixels(&file, kind, 21, 5, false);
        const enum status status = check_agreement(buf_bytes(&file));
        if (status != order->status || is_decoded_whole(buf_bytes(&file)) != order->whole) {
            fail_msg("%s: status %d", order->what, status);
        }
        buf_finish(&file);
    }
}

static void test_every_damaged_byte_is_judged_as_libpng_does(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct buf file = put_start(9, 4, kinds[k].depth, kinds[k].color_type, false);
        if (kinds[k].color_type == INDEXED) {
            put_palette(&file, 2);
        }
        put_chunk(&file, "tRNS", "\1\2\3\4\5\6", kinds[k].color_type == RGB ? 6 : 2);
        put_random_pixels(&file, kinds[k], 9, 4, true);
        for (size_t i = 8; i < file.size; i++) {
            const uint8_t right = file.data[i];
            file.data[i] ^= (uint8_t)(1u << random_byte() % 8);
            check_agreement(buf_bytes(&file));
            file.data[i] = right;
        }
        check(&file, true, "repaired");
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_decodes_alike),
        cmocka_unit_test(test_order_of_chunks_is_judged_as_libpng_does),
        cmocka_unit_test(test_every_damaged_byte_is_judged_as_libpng_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
