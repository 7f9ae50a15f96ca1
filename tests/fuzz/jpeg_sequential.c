/* SPDX-License-Identifier: MIT
 * The own JPEG decoders, of sequential and of progressive files, at every instruction set against
 * libjpeg-turbo: the same samples of planes and of RGB, or one of both refuses and it is the own one. With
 * idle threads, which help with larger pictures, samples and judgement are the same. */
#include "codecs/jpeg/jpeg_planes.h"

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "tests/filters/helpers.h"
#include "tests/fuzz/common/fuzz.h"

enum { HELPERS = 2, GRAIN = 1 };

static struct helpers *helpers;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    helpers = helpers_start(HELPERS, GRAIN, false);
    return 0;
}

/* `crew`: idle threads, or NULL. Returns whether the decoder hands the file over. */
static bool compare(const struct jpeg_dec_level *level, struct bytes input, const struct picture *picture,
                    struct crew *crew, const struct image *expected, enum status status) {
    struct codec_limits limits = fuzz_limits();
    limits.crew = crew;
    struct image image = fuzz_image(&picture->native, 0x5A);
    struct error err = {0};
    bool declined = false;
    uint32_t rows_reported = 0;
    enum status own = jpeg_planes_decode_at(level, input, &limits, &image, &declined, &rows_reported, &err);
    fuzz_require(own == ST_OK, "the own decoder fails for lack of time or memory only");
    fuzz_require(declined || status == ST_OK, "libjpeg-turbo decodes what the own decoder does");
    fuzz_require(declined || fuzz_same_pixels(&image, expected), "the samples are the same");
    fuzz_image_free(&image);
    return declined;
}

static void compare_pixels(const struct jpeg_dec_level *level, struct bytes input,
                           const struct picture *picture, const struct image *expected, enum status status) {
    struct codec_limits limits = fuzz_limits();
    struct image image = fuzz_image(&picture->pixels, 0x5A);
    struct error err = {0};
    bool declined = false;
    uint32_t rows_reported = 0;
    enum status own = jpeg_pixels_decode_at(level, input, &limits, &picture->native, &image, &declined,
                                            &rows_reported, &err);
    fuzz_require(own == ST_OK, "the own decoder to RGB fails for lack of time or memory only");
    fuzz_require(declined || status == ST_OK, "libjpeg-turbo makes RGB of what the own decoder does");
    fuzz_require(declined || fuzz_same_pixels(&image, expected), "the pixels are the same");
    fuzz_image_free(&image);
}

/* To RGB, at every instruction set. */
static void try_pixels(struct bytes input, const struct picture *picture) {
    struct codec_limits limits = fuzz_limits();
    struct image expected = fuzz_image(&picture->pixels, 0xA5);
    struct error err = {0};
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    limits.libjpeg = true;
    enum status status = codec_decode(input, picture, &limits, &expected, &err);
    sequential_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        compare_pixels(levels[i], input, picture, &expected, status);
    }
    fuzz_image_free(&expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    limits.libjpeg = true;
    if (codec_sniff(input) != codec_get(CODEC_JPEG) || codec_probe(input, &limits, &picture, &err) != ST_OK) {
        return 0;
    }
    struct image expected = fuzz_image(&picture.native, 0xA5);
    enum status status = codec_decode(input, &picture, &limits, &expected, &err);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        bool alone = compare(levels[i], input, &picture, NULL, &expected, status);
        helpers_await(helpers);
        bool helped = compare(levels[i], input, &picture, helpers_crew(helpers), &expected, status);
        fuzz_require(alone == helped, "help changes no judgement");
    }
    fuzz_image_free(&expected);
    if (picture.native.model == PIXEL_YCBCR) {
        try_pixels(input, &picture);
    }
    codec_picture_finish(&picture);
    return 0;
}
