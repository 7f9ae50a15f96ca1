/* SPDX-License-Identifier: MIT
 * Template of the forward DCT of libjpeg's jfdctint.c (islow): its constants. Included once per instruction
 * set. The results are eight times those of the DCT. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_H

#include "codecs/jpeg/baseline/jpeg_enc_level.h"

enum {
    FDCT_CENTRE = 128,
    FDCT_PASS_BITS = 2,   /* kept between the passes */
    FDCT_SHIFT_ROWS = 11, /* products, in the first pass */
    FDCT_SHIFT_COLUMNS = 15,
    /* round(x * 2^13) */
    FDCT_0_298 = 2446,
    FDCT_0_390 = 3196,
    FDCT_0_541 = 4433,
    FDCT_0_765 = 6270,
    FDCT_0_899 = 7373,
    FDCT_1_175 = 9633,
    FDCT_1_501 = 12299,
    FDCT_1_847 = 15137,
    FDCT_1_961 = 16069,
    FDCT_2_053 = 16819,
    FDCT_2_562 = 20995,
    FDCT_3_072 = 25172,
};

#endif
