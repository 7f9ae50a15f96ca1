/* SPDX-License-Identifier: MIT */
#include "core/jpeg/segments.h"

#include <string.h>

enum { STEP_MAX = 255 /* of a baseline file */ };

/* ISO 10918-1, K.1 and K.2: row by row, for quality 50. */
static const uint8_t standard_quantiser[JPEG_QUANTISERS][JPEG_COEFFICIENTS] = {
    {16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
     69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
     81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
     99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

const uint8_t jpeg_zigzag[JPEG_COEFFICIENTS] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

void jpeg_zigzag_places(uint8_t place[JPEG_COEFFICIENTS]) {
    for (uint8_t k = 0; k < JPEG_COEFFICIENTS; k++) {
        place[jpeg_zigzag[k]] = k;
    }
}

void jpeg_quantiser_make(uint8_t quality, unsigned table, uint16_t steps[JPEG_COEFFICIENTS]) {
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int k = 0; k < JPEG_COEFFICIENTS; k++) {
        int step = (standard_quantiser[table][k] * percent + 50) / 100;
        steps[k] = (uint16_t)(step < 1 ? 1 : step > STEP_MAX ? STEP_MAX : step);
    }
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t size) {
    memcpy(to, bytes, size);
    return to + size;
}

static uint8_t *put_marker(uint8_t *to, uint8_t marker, size_t size) {
    return put(to, (uint8_t[]){0xff, marker, (uint8_t)(size >> 8), (uint8_t)size}, 4);
}

uint8_t *jpeg_write_file(uint8_t *to, uint8_t unit, uint16_t x, uint16_t y) {
    const uint8_t head[JPEG_WRITE_FILE] = {0xff,
                                           0xd8,
                                           0xff,
                                           0xe0,
                                           0,
                                           16,
                                           'J',
                                           'F',
                                           'I',
                                           'F',
                                           0,
                                           1,
                                           1,
                                           unit,
                                           (uint8_t)(x >> 8),
                                           (uint8_t)x,
                                           (uint8_t)(y >> 8),
                                           (uint8_t)y};
    return put(to, head, sizeof head);
}

static uint8_t *put_quantiser(uint8_t *to, uint8_t id, const uint16_t *steps) {
    to = put_marker(to, 0xdb, 3 + JPEG_COEFFICIENTS);
    *to++ = id;
    for (int k = 0; k < JPEG_COEFFICIENTS; k++) {
        *to++ = (uint8_t)steps[jpeg_zigzag[k]];
    }
    return to;
}

uint8_t *jpeg_write_frame(uint8_t *to, const struct image *image,
                          const uint16_t (*quantiser)[JPEG_COEFFICIENTS]) {
    for (uint8_t i = 0; i < (image->plane_count > 1 ? 2 : 1); i++) {
        to = put_quantiser(to, i, quantiser[i]);
    }
    to = put_marker(to, 0xc0, 8 + 3 * (size_t)image->plane_count);
    to = put(to,
             (uint8_t[]){8, (uint8_t)(image->height >> 8), (uint8_t)image->height,
                         (uint8_t)(image->width >> 8), (uint8_t)image->width, image->plane_count},
             6);
    const struct plane *reduced = &image->plane[image->plane_count - 1];
    for (uint8_t i = 0; i < image->plane_count; i++) {
        uint8_t factors = (uint8_t)(i > 0 ? 0x11 : 0x10 << reduced->shift_x | 1 << reduced->shift_y);
        to = put(to, (uint8_t[]){(uint8_t)(i + 1), factors, i > 0}, 3);
    }
    return to;
}

uint8_t *jpeg_write_codes(uint8_t *to, const struct jpeg_huffman *codes) {
    size_t size = jpeg_huffman_size(codes);
    to = put_marker(to, 0xc4, 3 + JPEG_CODE_LENGTHS + size);
    *to++ = codes->id;
    to = put(to, codes->count, JPEG_CODE_LENGTHS);
    return put(to, codes->value, size);
}

uint8_t *jpeg_write_scan(uint8_t *to, const struct image *image) {
    to = put_marker(to, 0xda, 6 + 2 * (size_t)image->plane_count);
    *to++ = image->plane_count;
    for (uint8_t i = 0; i < image->plane_count; i++) {
        to = put(to, (uint8_t[]){(uint8_t)(i + 1), i > 0 ? 0x11 : 0}, 2);
    }
    return put(to, (uint8_t[]){0, JPEG_COEFFICIENTS - 1, 0}, 3);
}
