/* SPDX-License-Identifier: MIT
 * State of decoding a scan, and what an instruction set implements. Internal to codecs/jpeg/sequential/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_SCAN_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_SCAN_H

#include <stddef.h>

#include "codecs/jpeg/pixels/pixels_row.h"
#include "codecs/jpeg/sequential/seq_bytes.h"
#include "codecs/jpeg/sequential/seq_codes.h"
#include "core/jpeg/coefficients.h"

enum {
    SEQ_PLACES = 96,     /* positions that a lookup may reach, those behind the last one included */
    SEQ_LANES_MAX = 8,   /* blocks that are transformed at once, at most */
    SEQ_VALUE_MAX = 8191 /* of a coefficient times its step; above, libjpeg-turbo's versions differ */
};

/* Where a position of the scan order lies in the block, and the step of quantisation: 1 for DC. Those behind
 * the last one lie behind the block, with a step of 0. */
struct seq_place {
    int16_t step;
    uint16_t at;
};

/* A component of the scan. */
struct seq_part {
    const struct seq_look *dc, *ac;
    int32_t last_dc, dc_step;
    struct seq_place place[SEQ_PLACES];
    /* In the order of the block, and those of its first four rows and columns. 1 for DC, which is stored
     * multiplied. */
    _Alignas(64) int16_t steps[SEQ_STEPS + SEQ_STEPS / 4];
    size_t stride; /* of its plane; not beside last_dc, which changes while other threads transform */
};

/* A block of the MCU. */
struct seq_unit {
    struct seq_part *part;
    uint8_t *to;    /* its first sample; moves on with each MCU */
    uint32_t step;  /* from one MCU to the next, in bytes */
    ptrdiff_t down; /* from behind a row of MCUs to the next one; in a strip, back to its first MCU */
};

/* Blocks that are transformed alike. */
enum seq_class {
    SEQ_FLAT,   /* DC alone */
    SEQ_SMOOTH, /* the first ten positions, which are in the four lowest frequencies of each axis */
    SEQ_FULL,
    SEQ_CLASSES
};
enum { SEQ_SMOOTH_MAX = 10 };

struct seq_block {
    int16_t *values;
    uint8_t *to; /* its first sample */
    const struct seq_part *part;
};

struct seq_list {
    unsigned count;
    struct seq_block block[SEQ_BATCH + SEQ_LANES_MAX];
};

/* A block, and what reading it needs. Coefficients stand in their order, multiplied by their steps; or, if
 * the instruction set sorts them quickly, quantised ones in the order of the scan. All are 0 between batches,
 * but for DC and what is behind the last position. */
struct seq_coded {
    _Alignas(64) int16_t values[SEQ_PLACES];
    const uint64_t *dc, *ac; /* entries of lookups */
    struct seq_part *part;
    uint8_t positions; /* up to the last coefficient */
};

/* Blocks to transform, and a block of zeros that fills up lanes. The memory is 0 at first; the lists are
 * empty between batches. */
struct seq_sorted {
    struct seq_list list[SEQ_CLASSES];
    _Alignas(64) int16_t zeros[SEQ_PLACES];
    uint8_t sink[SEQ_STEPS]; /* the samples of the zeros; their stride is 0 */
    struct seq_part sink_part;
};

struct seq_batch {
    struct seq_sorted sorted;
    struct seq_coded coded[SEQ_BATCH + 1]; /* the last one has no symbols */
};

/* Blocks that another thread transforms: those of successive MCUs, which may begin and end anywhere in a row.
 * A pack stores the class and the DC of each block. The values of blocks with AC lie one block after the
 * other. */
enum {
    SEQ_PACK_VALUES = 40 << 10, /* of a photograph, those of about 1000 blocks: 25 µs to transform */
    SEQ_PACK_BLOCKS = 2048,
};
struct seq_pack {
    struct seq_unit unit[SEQ_MCU_BLOCKS_MAX]; /* of the first MCU */
    unsigned unit_count;
    uint32_t left, mcus; /* MCUs up to the end of the first row, and in a row */
    uint32_t count;      /* blocks */
    uint32_t used;       /* values */
    uint8_t class[SEQ_PACK_BLOCKS];
    _Alignas(64) int16_t dc[SEQ_PACK_BLOCKS];
    _Alignas(64) int16_t values[SEQ_PACK_VALUES];
};

/* Whether another batch may not fit in. */
static inline bool seq_pack_is_full(const struct seq_pack *pack) {
    return pack->count > SEQ_PACK_BLOCKS - SEQ_BATCH || pack->used > SEQ_PACK_VALUES - SEQ_BATCH * SEQ_STEPS;
}

struct seq_scan {
    unsigned unit_count;
    struct seq_unit unit[SEQ_MCU_BLOCKS_MAX];
    struct seq_part part[SEQ_COMPONENTS_MAX];
    struct seq_bits bits;
    struct seq_bytes bytes;
    struct seq_batch batch;
};

/* What the quantised coefficients of a plane are multiplied by, and the largest magnitudes whose products
 * with their steps are in range. */
struct seq_scale {
    int16_t step[SEQ_STEPS], limit[SEQ_STEPS];
};

/* A row of blocks whose quantised coefficients are in memory (codecs/jpeg/jpeg_coefficients.h). */
struct seq_stored {
    const int16_t *values;
    const uint64_t *filled;
    struct coefficients_row row;
    uint32_t count;
    const struct seq_part *part;
    const struct seq_scale *scale;
    uint8_t *to; /* the first sample */
};

struct seq_level {
    const char *name;
    bool vectors; /* faster than libjpeg-turbo, which else decodes all files */
    bool sorts;   /* stored values are in the order of the scan, and multiplied with the transform but for DC;
                     else they are row by row, and the scale multiplies */
    /* Decodes `count` MCUs of a row into their planes. False when the data is damaged or unusual. */
    bool (*decode)(struct seq_scan *scan, uint32_t count);
    /* The same into a pack, up to `count` MCUs or until it is full. Returns the number of MCUs; 0 when the
     * data is damaged or unusual. The pack is not full before. */
    uint32_t (*pack)(struct seq_scan *scan, uint32_t count, struct seq_pack *pack);
    /* Transforms the blocks of a pack to their planes; the pack is undefined afterwards. */
    void (*unpack)(struct seq_sorted *sorted, struct seq_pack *pack);
    /* Transforms a row to its plane. False when a value is unusual; the samples are undefined then. */
    bool (*transform)(struct seq_batch *batch, const struct seq_stored *stored);
    /* Makes a row of interleaved RGB. */
    void (*join)(const struct pixels_row *row, uint8_t *rgb);
};

/* Sets the steps of a component, which are in the order of the scan. */
void seq_part_set_steps(struct seq_part *part, const uint16_t *steps);

extern const struct seq_level seq_level_plain, seq_level_baseline, seq_level_avx2, seq_level_avx512,
    seq_level_neon;

#endif
