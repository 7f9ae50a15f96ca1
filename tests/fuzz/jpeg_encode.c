/* SPDX-License-Identifier: MIT
 * The own encoder of JPEGs against libjpeg-turbo: any bytes as samples, the same file at every instruction
 * set, row by row, at once, and by several threads. */
#include "codecs/jpeg/baseline/baseline.h"

#include <string.h>

#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "tests/filters/helpers.h"
#include "tests/fuzz/common/fuzz.h"

enum { HELPERS = 1, GRAIN = 64, SETTINGS = 7, FILE_MAX = 1 << 24, WIDTH_MAX = 280, HEIGHT_MAX = 80 };

static struct helpers *helpers;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    helpers = helpers_start(HELPERS, GRAIN, false);
    return 0;
}

/* Chroma is reduced by 8 samples for one at most: what the encoder takes. */
static struct image_shape take_shape(struct bytes *input) {
    static const uint8_t shifts[8][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
    static const enum pixel_model models[8] = {PIXEL_YCBCR, PIXEL_YCBCR,      PIXEL_YCBCR, PIXEL_YCBCR,
                                               PIXEL_GRAY,  PIXEL_GRAY_ALPHA, PIXEL_RGB,   PIXEL_RGBA};
    uint8_t choice = fuzz_byte(input);
    struct image_shape shape = {.model = models[choice % 8], .depth = 8};
    if (shape.model == PIXEL_YCBCR) {
        shape.chroma_shift_x = shifts[choice / 8 % 8][0];
        shape.chroma_shift_y = shifts[choice / 8 % 8][1];
    } else if (choice / 8 % 4 == 3) {
        shape.depth = 16;
    }
    shape.width = fuzz_short(input) % WIDTH_MAX + 1;
    shape.height = fuzz_byte(input) % HEIGHT_MAX + 1;
    return shape;
}

/* The bytes again and again; with `extremes` each of their bits is a sample of 0 or 255. */
static void fill(const struct image *image, struct bytes input, bool extremes) {
    size_t at = 0, count = extremes ? input.size * 8 : input.size;
    for (unsigned p = 0; count > 0 && p < image->plane_count; p++) {
        for (uint32_t y = 0; y < image->plane[p].height; y++) {
            uint8_t *row = plane_row(&image->plane[p], y);
            for (size_t x = 0; x < plane_row_bytes(&image->plane[p], image->depth); x++) {
                row[x] = !extremes ? input.data[at] : input.data[at / 8] >> (at % 8) & 1 ? 255 : 0;
                at = at + 1 < count ? at + 1 : 0;
            }
        }
    }
}

/* With `step`, in so many rows at a time. */
static struct buf encode(const struct jpeg_enc_level *level, const struct image *image,
                         const struct encode_options *options, uint32_t step) {
    const struct jpeg_segments segments = {.jfif = {0, 1, 1}};
    struct baseline *own;
    struct buf file;
    struct error err = {0};
    buf_init(&file, FILE_MAX);
    enum status status = baseline_begin(level, image, options, &segments, &file, &own, &err);
    for (uint32_t rows = step; step && status == ST_OK && rows < image->height; rows += step) {
        status = baseline_rows(own, rows, &err);
    }
    status = status == ST_OK ? baseline_end(own, &err) : status;
    fuzz_require(status == ST_OK, "each picture can be encoded");
    baseline_finish(own);
    return file;
}

static void compare(const struct image *image, struct encode_options options, uint32_t step) {
    struct buf expected;
    struct error err = {0};
    options.libjpeg = true;
    buf_init(&expected, FILE_MAX);
    fuzz_require(codec_encode(CODEC_JPEG, image, &options, NULL, &expected, &err) == ST_OK,
                 "libjpeg-turbo encodes each picture");
    options.libjpeg = false;
    const struct jpeg_enc_level *levels[JPEG_ENC_LEVELS_MAX + 1];
    jpeg_enc_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        struct buf file = encode(levels[i], image, &options, i ? step : 0);
        fuzz_require(file.size == expected.size && memcmp(file.data, expected.data, file.size) == 0,
                     "the bytes are those of libjpeg-turbo");
        buf_finish(&file);
    }
    buf_finish(&expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    if (size <= SETTINGS) {
        return 0;
    }
    const struct image_shape shape = take_shape(&input);
    uint8_t choice = fuzz_byte(&input);
    struct encode_options options = {.quality = fuzz_byte(&input) % 100 + 1,
                                     .optimal = choice & 1,
                                     .subsampling = (enum subsampling)(choice >> 1 & 3),
                                     .crew = choice & 8 ? helpers_crew(helpers) : NULL};
    struct image image = fuzz_image(&shape, choice);
    fill(&image, input, choice & 16);
    compare(&image, options, fuzz_byte(&input) % 40);
    fuzz_image_free(&image);
    return 0;
}
