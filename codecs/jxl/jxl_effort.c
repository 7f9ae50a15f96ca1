/* SPDX-License-Identifier: MIT
 * Effort 0 to 2 repacks a JPEG: at 1080p a third of the time of libjxl's lossy coder. That begins at 3, with
 * libjxl's number; beyond its 7 files of the same quality become larger again. Below libjxl's 3 the codes of
 * blocks are not adapted to the picture: hardly faster, and up to three times as many bytes. Lossless files
 * have no use for 9, which takes 40 seconds a megapixel. docs/adr/0077 has the figures. */
#include "codecs/jxl/jxl_effort.h"

#include "codecs/codec.h"
#include "codecs/jxl/jxl.h"
#include "core/deadline.h"

enum { EFFORTS = 10, LOSSY_FIRST = 3 };

/* Nanoseconds a pixel: the slowest found with libjxl 0.7, for noise of three channels. */
static const struct {
    uint8_t lossy, lossless;
    uint16_t lossy_ns, lossless_ns;
} efforts[EFFORTS] = {
    {3, 1, 200, 150},  {3, 1, 200, 150},  {3, 2, 200, 200},  {3, 3, 200, 400},  {3, 4, 200, 2000},
    {5, 4, 400, 2000}, {5, 5, 400, 2000}, {6, 6, 500, 2200}, {7, 7, 600, 3000}, {7, 8, 600, 6000},
};

static unsigned wanted(const struct encode_options *options) {
    return options->effort < EFFORTS ? options->effort : EFFORTS - 1;
}

/* A JPEG has shorter sides than a JPEG XL may have. */
static bool fits_jpeg(const struct image_shape *shape) {
    struct error ignored;
    return shape->depth == 8 && !image_pixel_has_alpha(shape->model) &&
           codec_check_sides(CODEC_JPEG, shape, &ignored) == ST_OK;
}

struct jxl_effort jxl_effort_choose(const struct image_shape *shape, const struct encode_options *options) {
    unsigned effort = wanted(options), channels = 1 + image_pixel_channels(shape->model) / 3;
    uint64_t pixels = (uint64_t)shape->width * shape->height * channels;
    uint64_t half = (uint64_t)deadline_left(options->deadline_ns) / 2;
    while (effort > 0 &&
           pixels * (options->lossless ? efforts[effort].lossless_ns : efforts[effort].lossy_ns) / 2 > half) {
        effort--;
    }
    if (options->lossless) {
        return (struct jxl_effort){JXL_KIND_LOSSLESS, efforts[effort].lossless};
    }
    bool repacked = effort < LOSSY_FIRST && fits_jpeg(shape);
    return (struct jxl_effort){repacked ? JXL_KIND_REPACKED : JXL_KIND_LOSSY, efforts[effort].lossy};
}

/* 1080p: 45 ms repacked, 65 ms with losses, 110 ms without. */
struct encode_cost jxl_encode_cost(const struct encode_extent *extent, const struct encode_options *options) {
    static const float lossy[EFFORTS] = {22, 22, 22, 33, 33, 90, 90, 110, 120, 120};
    static const float lossless[EFFORTS] = {55, 55, 75, 150, 500, 500, 500, 550, 700, 1500};
    unsigned effort = wanted(options);
    float pixel = options->lossless ? lossless[effort] : lossy[effort];
    return (struct encode_cost){pixel * extent->pixels, options->lossless};
}
