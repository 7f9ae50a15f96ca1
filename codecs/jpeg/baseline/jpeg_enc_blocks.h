/* SPDX-License-Identifier: MIT
 * A picture as quantised blocks, for an encoder. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_BLOCKS_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_BLOCKS_H

#include "core/jpeg/segments.h"

struct baseline_blocks {
    uint16_t quantiser[JPEG_QUANTISERS]
                      [JPEG_COEFFICIENTS]; /* row by row, 1 to 255; for luma and for chroma */
    /* row[c][y] is the first block in row y of component c. Coefficients of a block lie row by row. */
    const int16_t (**row[IMAGE_PLANES_MAX])[JPEG_COEFFICIENTS];
};

#endif
