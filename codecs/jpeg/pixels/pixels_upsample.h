/* SPDX-License-Identifier: MIT
 * Template: RGB of a row of YCbCr, in the arithmetic of libjpeg's jdsample.c and jdcolor.c.
 * Included once per instruction set, whose vectors the compiler uses. */
#ifndef BLURD_CODECS_JPEG_PIXELS_PIXELS_UPSAMPLE_H
#define BLURD_CODECS_JPEG_PIXELS_PIXELS_UPSAMPLE_H

#include <stddef.h>
#include <string.h>

#include "codecs/jpeg/pixels/pixels_row.h"

#define INLINE static inline __attribute__((always_inline))

/* Three quarters of a row and one of its neighbour, times four; or the row itself. */
INLINE void sum_rows(const uint8_t *restrict near, const uint8_t *restrict next, size_t count, bool mixes,
                     uint16_t *restrict sum) {
    for (size_t i = 0; i < count; i++) {
        sum[i] = mixes ? (uint16_t)(3 * near[i] + next[i]) : near[i];
    }
}

/* Two pixels for each sum. `left` and `right` are added to those with a neighbour on that side. */
INLINE void widen(const uint16_t *restrict sum, size_t count, int left, int right, int bits,
                  uint8_t *restrict to) {
    for (size_t i = 1; i <= count; i++) {
        to[2 * i - 2] = (uint8_t)((3 * sum[i] + sum[i - 1] + left) >> bits);
        to[2 * i - 1] = (uint8_t)((3 * sum[i] + sum[i + 1] + right) >> bits);
    }
}

/* Chroma of a row of pixels: the row itself, or made in `to`. */
static const uint8_t *full_row(const struct pixels_row *row, unsigned index, uint8_t *restrict to) {
    const uint8_t *restrict near = row->near[index], *restrict next = row->next[index];
    const size_t count = row->chroma_width;
    uint16_t *sum = row->sum;
    if (!row->smooth) {
        for (size_t x = 0; row->shift_x > 0 && x < row->width; x++) {
            to[x] = near[x >> row->shift_x];
        }
        return row->shift_x > 0 ? to : near;
    }
    if (row->shift_x == 0) {
        for (size_t x = 0; x < count; x++) {
            to[x] = (uint8_t)((3 * near[x] + next[x] + 1 + row->odd) >> 2);
        }
        return to;
    }
    sum_rows(near, next, count, row->shift_y == 1, sum + 1);
    sum[0] = sum[1];
    sum[count + 1] = sum[count];
    if (row->shift_y == 1) {
        widen(sum, count, 8, 7, 4, to);
    } else {
        widen(sum, count, 1, 2, 2, to);
    }
    return to;
}

/* In 16 bits, for which vectors have instructions. */
INLINE int16_t larger(int16_t a, int16_t b) {
    return a > b ? a : b;
}

INLINE int16_t smaller(int16_t a, int16_t b) {
    return a < b ? a : b;
}

INLINE uint8_t clamp(int16_t value) {
    return (uint8_t)smaller(larger(value, 0), 255);
}

INLINE int16_t multiply_high(int16_t a, int16_t b) {
    return (int16_t)((int32_t)a * b >> 16);
}

/* The factors of libjpeg are 1.402 = 1 + 0.402, 1.772 = 2 - 0.228, -0.34414 and -0.71414 = 0.28586 - 1. What
 * is multiplied here is the fraction, as round(x * 2^16), which fits in 16 bits. */
static void convert(const uint8_t *restrict luma, const uint8_t *restrict cb, const uint8_t *restrict cr,
                    size_t count, uint8_t *restrict red, uint8_t *restrict green, uint8_t *restrict blue) {
    for (size_t x = 0; x < count; x++) {
        const int16_t y = luma[x], b = (int16_t)(cb[x] - 128), r = (int16_t)(cr[x] - 128);
        const int16_t twice_b = (int16_t)(2 * b), twice_r = (int16_t)(2 * r);
        const int32_t mixed = (-22554 * b + 18734 * r + 32768) >> 16;
        red[x] = clamp((int16_t)(y + r + ((int16_t)(multiply_high(twice_r, 26345) + 1) >> 1)));
        green[x] = clamp((int16_t)(y - r + (int16_t)mixed));
        blue[x] = clamp((int16_t)(y + twice_b + ((int16_t)(multiply_high(twice_b, -14942) + 1) >> 1)));
    }
}

#if (defined(__SSSE3__) || defined(__ARM_NEON)) && __has_builtin(__builtin_shufflevector)
#define INTERLEAVES /* by shuffles of bytes */
typedef uint8_t sixteen __attribute__((vector_size(16)));

INLINE sixteen load(const uint8_t *from) {
    sixteen value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void store(uint8_t *to, sixteen value) {
    memcpy(to, &value, sizeof value);
}

/* Sixteen pixels. Places that the second shuffle fills take any sample in the first one. */
INLINE void interleave_block(const uint8_t *red, const uint8_t *green, const uint8_t *blue, uint8_t *to) {
    const sixteen r = load(red), g = load(green), b = load(blue);
    sixteen rg = __builtin_shufflevector(r, g, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
    store(to, __builtin_shufflevector(rg, b, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15));
    rg = __builtin_shufflevector(r, g, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
    store(to + 16, __builtin_shufflevector(rg, b, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15));
    rg = __builtin_shufflevector(r, g, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
    store(to + 32, __builtin_shufflevector(rg, b, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31));
}
#endif

static void interleave(uint8_t *const colour[3], size_t count, uint8_t *restrict to) {
    size_t x = 0;
#ifdef INTERLEAVES
    for (; x + sizeof(sixteen) <= count; x += sizeof(sixteen)) {
        interleave_block(colour[0] + x, colour[1] + x, colour[2] + x, to + 3 * x);
    }
#endif
    for (; x < count; x++) {
        for (size_t c = 0; c < 3; c++) {
            to[3 * x + c] = colour[c][x];
        }
    }
}

static void join_row(const struct pixels_row *row, uint8_t *rgb) {
    const uint8_t *cb = full_row(row, 0, row->full[0]), *cr = full_row(row, 1, row->full[1]);
    convert(row->luma, cb, cr, row->width, row->colour[0], row->colour[1], row->colour[2]);
    interleave(row->colour, row->width, rgb);
}

#endif
