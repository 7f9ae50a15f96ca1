/* SPDX-License-Identifier: MIT */
#include "codecs/limits.h"

#include <inttypes.h>

enum status limits_check_size(uint32_t width, uint32_t height, const struct codec_limits *limits,
                              struct error *err) {
    if (width == 0 || height == 0) {
        return fail(err, ST_CORRUPT, "picture is %" PRIu32 " x %" PRIu32 " pixels; neither side may be 0",
                    width, height);
    }
    uint32_t side = width > height ? width : height;
    if (side > limits->max_side) {
        return fail(err, ST_LIMIT,
                    "picture is %" PRIu32 " x %" PRIu32 " pixels; the limit is %" PRIu32 " pixels a side",
                    width, height, limits->max_side);
    }
    uint64_t pixels = (uint64_t)width * height;
    if (pixels > limits->max_pixels) {
        return fail(err, ST_LIMIT,
                    "picture is %" PRIu32 " x %" PRIu32 " = %" PRIu64 " pixels; the limit is %" PRIu64, width,
                    height, pixels, limits->max_pixels);
    }
    return ST_OK;
}
