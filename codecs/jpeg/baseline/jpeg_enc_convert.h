/* SPDX-License-Identifier: MIT
 * Template: RGB to YCbCr in the arithmetic of libjpeg's jccolor.c. Included once per instruction set, whose
 * vectors the compiler uses. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_CONVERT_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_CONVERT_H

#include <stddef.h>
#include <stdint.h>

enum {
    CONVERT_BITS = 16,
    CONVERT_HALF = 1 << (CONVERT_BITS - 1),
    CONVERT_CENTRE = (128 << CONVERT_BITS) + CONVERT_HALF - 1,
};

/* The factors are round(x * 2^16): 0.299, 0.587, 0.114; 0.16874, 0.33126, 0.5; 0.41869, 0.08131. */
static void colours(const uint8_t *restrict rgb, size_t count, uint8_t *restrict luma, uint8_t *restrict cb,
                    uint8_t *restrict cr) {
    for (size_t x = 0; x < count; x++) {
        int r = rgb[3 * x], g = rgb[3 * x + 1], b = rgb[3 * x + 2];
        luma[x] = (uint8_t)((19595 * r + 38470 * g + 7471 * b + CONVERT_HALF) >> CONVERT_BITS);
        cb[x] = (uint8_t)((-11059 * r - 21709 * g + 32768 * b + CONVERT_CENTRE) >> CONVERT_BITS);
        cr[x] = (uint8_t)((32768 * r - 27439 * g - 5329 * b + CONVERT_CENTRE) >> CONVERT_BITS);
    }
}

#endif
