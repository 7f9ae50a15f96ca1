/* SPDX-License-Identifier: MIT
 * Decodes the blocks of one scan to coefficients, of any kind that Huffman-coded JPEGs of 8 bits have: whole
 * blocks, and the bands of progressive files, where a scan has some of the coefficients, without their lowest
 * bits or one more bit of them. Stricter than libjpeg-turbo. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_JPEG_SCANS_H
#define BLURD_CODECS_JPEG_JPEG_SCANS_H

#include "codecs/jpeg/sequential/jpeg_dec_bytes.h"
#include "codecs/jpeg/sequential/jpeg_dec_codes.h"
#include "core/jpeg/coefficients.h"

/* The blocks of a plane in one row. */
struct jpeg_scans_row {
    struct coefficients_row blocks;
    unsigned part; /* of the scan */
};

/* The state of a scan. */
struct jpeg_scans {
    int16_t *values; /* 64 of each block, all 0 before the first scan */
    uint64_t
        *filled; /* of each block: bit 63 - k is set where AC coefficient k of the scan's order is not 0 */
    uint8_t place[JPEG_DEC_COEFFICIENTS]; /* in a block, of the coefficients in the scan's order */
    bool quick;                           /* the processor deposits bits by an instruction */
    uint8_t from, to;                     /* the band: coefficients in the scan's order */
    uint8_t low;                          /* bits that are still missing below those of this scan */
    uint32_t ends;                        /* blocks that have no further new coefficients in the band */
    int32_t last_dc[JPEG_DEC_COMPONENTS_MAX];
    struct jpeg_dec_codes dc[JPEG_DEC_COMPONENTS_MAX],
        ac[JPEG_DEC_COMPONENTS_MAX]; /* of the parts that need them */
    struct jpeg_dec_bits bits;
    struct jpeg_dec_bytes bytes;
};

/* Decodes blocks `from` to `to` of a row. False when the data is damaged, unusual or too short. */
typedef bool jpeg_scans_decoder(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from,
                                uint32_t to);

jpeg_scans_decoder jpeg_scans_whole;     /* DC and AC */
jpeg_scans_decoder jpeg_scans_dc;        /* DC but for its lowest bits */
jpeg_scans_decoder jpeg_scans_dc_refine; /* one bit more */
jpeg_scans_decoder jpeg_scans_ac, jpeg_scans_ac_refine;

/* Forgets what does not last beyond a restart marker. */
void jpeg_scans_restart(struct jpeg_scans *bands);

#endif
