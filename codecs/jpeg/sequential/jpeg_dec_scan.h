/* SPDX-License-Identifier: MIT
 * State of decoding a scan, and what an instruction set implements. Internal to codecs/jpeg/sequential/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_SCAN_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_SCAN_H

#include <stddef.h>

#include "codecs/jpeg/pixels/pixels_row.h"
#include "codecs/jpeg/sequential/jpeg_dec_bytes.h"
#include "codecs/jpeg/sequential/jpeg_dec_codes.h"
#include "core/jpeg/coefficients.h"
#include "core/tuned.h"

enum {
    JPEG_DEC_PLACES = 96,     /* positions that a lookup may reach, those behind the last one included */
    JPEG_DEC_LANES_MAX = 8,   /* blocks that are transformed at once, at most */
    JPEG_DEC_VALUE_MAX = 8191 /* of a coefficient times its step; above, libjpeg-turbo's versions differ */
};

/* Where a position of the scan order lies in the block, and the step of quantisation: 1 for DC. Those behind
 * the last one lie behind the block, with a step of 0. */
struct jpeg_dec_place {
    int16_t step;
    uint16_t at;
};

/* A component of the scan. */
struct jpeg_dec_part {
    const struct jpeg_dec_look *dc, *ac;
    int32_t last_dc, dc_step;
    struct jpeg_dec_place place[JPEG_DEC_PLACES];
    /* In the order of the block, and those of its first four rows and columns. 1 for DC, which is stored
     * multiplied. */
    _Alignas(64) int16_t steps[JPEG_DEC_COEFFICIENTS + JPEG_DEC_COEFFICIENTS / 4];
    size_t stride; /* of its plane; not beside last_dc, which changes while other threads transform */
};

/* A block of the MCU. */
struct jpeg_dec_unit {
    struct jpeg_dec_part *part;
    uint8_t *to;    /* its first sample; moves on with each MCU */
    uint32_t step;  /* from one MCU to the next, in bytes */
    ptrdiff_t down; /* from behind a row of MCUs to the next one; in a strip, back to its first MCU */
};

/* Blocks that are transformed alike. */
enum jpeg_dec_class {
    JPEG_DEC_FLAT,   /* DC alone */
    JPEG_DEC_SMOOTH, /* the first ten positions, which are in the four lowest frequencies of each axis */
    JPEG_DEC_FULL,
    JPEG_DEC_CLASSES
};
enum { JPEG_DEC_SMOOTH_MAX = 10 };

struct jpeg_dec_block {
    int16_t *values;
    uint8_t *to; /* its first sample */
    const struct jpeg_dec_part *part;
};

struct jpeg_dec_list {
    unsigned count;
    struct jpeg_dec_block block[JPEG_DEC_BATCH + JPEG_DEC_LANES_MAX];
};

/* A block, and what reading it needs. Coefficients stand in their order, multiplied by their steps; or, if
 * the instruction set sorts them quickly, quantised ones in the order of the scan. All are 0 between batches,
 * but for DC and what is behind the last position. */
struct jpeg_dec_coded {
    _Alignas(64) int16_t values[JPEG_DEC_PLACES];
    const uint64_t *dc, *ac; /* entries of lookups */
    struct jpeg_dec_part *part;
    uint8_t positions; /* up to the last coefficient */
};

/* Blocks to transform, and a block of zeros that fills up lanes. The memory is 0 at first; the lists are
 * empty between batches. */
struct jpeg_dec_sorted {
    struct jpeg_dec_list list[JPEG_DEC_CLASSES];
    _Alignas(64) int16_t zeros[JPEG_DEC_PLACES];
    uint8_t sink[JPEG_DEC_COEFFICIENTS]; /* the samples of the zeros; their stride is 0 */
    struct jpeg_dec_part sink_part;
};

struct jpeg_dec_batch {
    struct jpeg_dec_sorted sorted;
    struct jpeg_dec_coded coded[JPEG_DEC_BATCH + 1]; /* the last one has no symbols */
};

/* Blocks that another thread transforms: those of successive MCUs, which may begin and end anywhere in a row.
 * A pack stores the class and the DC of each block. The values of blocks with AC lie one block after the
 * other. */
enum {
    JPEG_DEC_PACK_VALUES = TUNED_JPEG_PACK,
    JPEG_DEC_PACK_BLOCKS = 2048,
};
struct jpeg_dec_pack {
    struct jpeg_dec_unit unit[JPEG_DEC_MCU_BLOCKS_MAX]; /* of the first MCU */
    unsigned unit_count;
    uint32_t left, mcus; /* MCUs up to the end of the first row, and in a row */
    uint32_t count;      /* blocks */
    uint32_t used;       /* values */
    uint8_t class[JPEG_DEC_PACK_BLOCKS];
    _Alignas(64) int16_t dc[JPEG_DEC_PACK_BLOCKS];
    _Alignas(64) int16_t values[JPEG_DEC_PACK_VALUES];
};

/* Whether another batch may not fit in. */
static inline bool jpeg_dec_pack_is_full(const struct jpeg_dec_pack *pack) {
    return pack->count > JPEG_DEC_PACK_BLOCKS - JPEG_DEC_BATCH ||
           pack->used > JPEG_DEC_PACK_VALUES - JPEG_DEC_BATCH * JPEG_DEC_COEFFICIENTS;
}

struct jpeg_dec_scan {
    unsigned unit_count;
    struct jpeg_dec_unit unit[JPEG_DEC_MCU_BLOCKS_MAX];
    struct jpeg_dec_part part[JPEG_DEC_COMPONENTS_MAX];
    struct jpeg_dec_bits bits;
    struct jpeg_dec_bytes bytes;
    struct jpeg_dec_batch batch;
};

/* What the quantised coefficients of a plane are multiplied by, and the largest magnitudes whose products
 * with their steps are in range. */
struct jpeg_dec_scale {
    int16_t step[JPEG_DEC_COEFFICIENTS], limit[JPEG_DEC_COEFFICIENTS];
};

/* A row of blocks whose quantised coefficients are in memory (codecs/jpeg/jpeg_coefficients.h). */
struct jpeg_dec_stored {
    const int16_t *values;
    const uint64_t *filled;
    struct coefficients_row row;
    uint32_t count;
    const struct jpeg_dec_part *part;
    const struct jpeg_dec_scale *scale;
    uint8_t *to; /* the first sample */
};

struct jpeg_dec_level {
    const char *name;
    bool vectors; /* faster than libjpeg-turbo, which else decodes all files */
    bool sorts;   /* stored values are in the order of the scan, and multiplied with the transform but for DC;
                     else they are row by row, and the scale multiplies */
    /* Decodes `count` MCUs of a row into their planes. False when the data is damaged or unusual. */
    bool (*decode)(struct jpeg_dec_scan *scan, uint32_t count);
    /* The same into a pack, up to `count` MCUs or until it is full. Returns the number of MCUs; 0 when the
     * data is damaged or unusual. The pack is not full before. */
    uint32_t (*pack)(struct jpeg_dec_scan *scan, uint32_t count, struct jpeg_dec_pack *pack);
    /* Transforms the blocks of a pack to their planes; the pack is undefined afterwards. */
    void (*unpack)(struct jpeg_dec_sorted *sorted, struct jpeg_dec_pack *pack);
    /* Transforms a row to its plane. False when a value is unusual; the samples are undefined then. */
    bool (*transform)(struct jpeg_dec_batch *batch, const struct jpeg_dec_stored *stored);
    /* Makes a row of interleaved RGB. */
    void (*join)(const struct pixels_row *row, uint8_t *rgb);
};

/* Sets the steps of a component, which are in the order of the scan. */
void jpeg_dec_part_set_quantiser(struct jpeg_dec_part *part, const uint16_t *steps);

extern const struct jpeg_dec_level jpeg_dec_level_plain, jpeg_dec_level_baseline, jpeg_dec_level_avx2,
    jpeg_dec_level_avx512, jpeg_dec_level_neon;

#endif
