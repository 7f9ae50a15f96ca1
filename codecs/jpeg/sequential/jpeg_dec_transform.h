/* SPDX-License-Identifier: MIT
 * Template of the inverse DCT of libjpeg's jidctint.c (islow): its constants, and what all versions share.
 * Included once per instruction set. The arithmetic is that of libjpeg-turbo's code for x86, also where 16
 * bits overflow. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_H

#include <string.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

enum {
    IDCT_BITS = 13,
    IDCT_SHIFT_COLUMNS = 11, /* two bits are kept between the passes */
    IDCT_SHIFT_ROWS = 18,
    IDCT_CENTRE = 128,
    /* round(x * 2^13) */
    IDCT_0_298 = 2446,
    IDCT_0_390 = 3196,
    IDCT_0_541 = 4433,
    IDCT_0_765 = 6270,
    IDCT_0_899 = 7373,
    IDCT_1_175 = 9633,
    IDCT_1_501 = 12299,
    IDCT_1_847 = 15137,
    IDCT_1_961 = 16069,
    IDCT_2_053 = 16819,
    IDCT_2_562 = 20995,
    IDCT_3_072 = 25172,
};

/* A block of DC alone has one value, rounded twice. */
static inline uint8_t idct_flat(int16_t dc) {
    int32_t value = (dc * 4 + (1 << (IDCT_SHIFT_ROWS - IDCT_BITS - 1))) >> (IDCT_SHIFT_ROWS - IDCT_BITS);
    value += IDCT_CENTRE;
    return (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
}

static inline void idct_flat_list(struct jpeg_dec_list *list) {
    for (unsigned i = 0; i < list->count; i++) {
        const struct jpeg_dec_block *block = &list->block[i];
        uint64_t samples = idct_flat(block->values[0]) * (UINT64_MAX / UINT8_MAX);
        size_t stride = block->part->stride;
        uint8_t *to = block->to;
        for (unsigned y = 0; y < 8; y++, to += stride) {
            memcpy(to, &samples, sizeof samples);
        }
    }
    list->count = 0;
}

#endif
