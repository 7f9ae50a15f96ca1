/* SPDX-License-Identifier: MIT
 * Decodes the blocks of one scan to coefficients, of any kind that Huffman-coded JPEGs of 8 bits have: whole
 * blocks, and the bands of progressive files, where a scan has some of the coefficients, without their lowest
 * bits or one more bit of them. Stricter than libjpeg-turbo. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_JPEG_BANDS_H
#define BLURD_CODECS_JPEG_JPEG_BANDS_H

#include "codecs/jpeg/sequential/seq_bytes.h"
#include "codecs/jpeg/sequential/seq_codes.h"
#include "core/jpeg/coefficients.h"

/* The blocks of a plane in one row. */
struct jpeg_bands_row {
    struct coefficients_row blocks;
    unsigned part; /* of the scan */
};

/* The state of a scan. */
struct jpeg_bands {
    int16_t *values; /* 64 of each block, all 0 before the first scan */
    uint64_t
        *filled; /* of each block: bit 63 - k is set where AC coefficient k of the scan's order is not 0 */
    uint8_t place[SEQ_STEPS]; /* in a block, of the coefficients in the scan's order */
    bool quick;               /* the processor deposits bits by an instruction */
    uint8_t from, to;         /* the band: coefficients in the scan's order */
    uint8_t low;              /* bits that are still missing below those of this scan */
    uint32_t ends;            /* blocks that have no further new coefficients in the band */
    int32_t last_dc[SEQ_COMPONENTS_MAX];
    struct seq_codes dc[SEQ_COMPONENTS_MAX], ac[SEQ_COMPONENTS_MAX]; /* of the parts that need them */
    struct seq_bits bits;
    struct seq_bytes bytes;
};

/* Decodes blocks `from` to `to` of a row. False when the data is damaged, unusual or too short. */
typedef bool jpeg_bands_decoder(struct jpeg_bands *bands, const struct jpeg_bands_row *row, uint32_t from,
                                uint32_t to);

jpeg_bands_decoder jpeg_bands_whole;     /* DC and AC */
jpeg_bands_decoder jpeg_bands_dc;        /* DC but for its lowest bits */
jpeg_bands_decoder jpeg_bands_dc_refine; /* one bit more */
jpeg_bands_decoder jpeg_bands_ac, jpeg_bands_ac_refine;

/* Forgets what does not last beyond a restart marker. */
void jpeg_bands_restart(struct jpeg_bands *bands);

#endif
