/* SPDX-License-Identifier: MIT
 * What an instruction set implements of the encoder, and what it reads and makes. Internal to
 * codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASE_LEVEL_H
#define BLURD_CODECS_JPEG_BASELINE_BASE_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/jpeg/head.h"

enum {
    BASE_MCUS = 16,     /* of a row, in a piece that is transformed before its codes are found */
    BASE_LANES_MAX = 4, /* blocks that are transformed at once, at most; divides BASE_MCUS */
    BASE_BLOCKS = BASE_MCUS * JPEG_MCU_BLOCKS_MAX,
    BASE_BLOCK_TOKENS =
        JPEG_COEFFICIENTS, /* at most: DC, then 63 values; or fewer, and the end of the block */
    BASE_TOKENS = BASE_BLOCKS * BASE_BLOCK_TOKENS + 1, /* of a piece, and one beyond its end */
    BASE_RUN_MAX = 15, /* zeros before a value; 16 zeros are a symbol of their own */
    BASE_ZEROS = 0xf0,
    BASE_SMALL_BITS = 7, /* of values whose tokens are looked up */
    BASE_SMALL = 1 << BASE_SMALL_BITS,

    /* A token is a symbol with its table, and the bits of its value above: value << BASE_INDEX | table << 8
     * | symbol. A code is bits << size of the value << BASE_CODE | length, where the length is that of both.
     */
    BASE_INDEX = 10,
    BASE_INDICES = 1 << BASE_INDEX,
    BASE_CODE = 6,
    BASE_CODE_MAX = 27, /* bits of code and value */

    BASE_WRITE_TOKENS = 1024, /* whose bytes are made at once */
    /* Two bytes for each of all bits, and what is stored beyond the end. */
    BASE_WRITE_BYTES = 2 * (BASE_WRITE_TOKENS * BASE_CODE_MAX / 8 + 8) + 8,
};
_Static_assert((int)BASE_INDICES == JPEG_CODE_TABLES * JPEG_SYMBOLS,
               "a token's index names table and symbol");

/* Division of a coefficient by eight times its step, rounded to the nearest, row by row: in 16 bits, the high
 * half of (|coefficient| + half) * factor, then the high half of that times `scale`. */
struct base_steps {
    _Alignas(64) uint16_t half[JPEG_COEFFICIENTS], factor[JPEG_COEFFICIENTS], scale[JPEG_COEFFICIENTS];
};

/* Fills in the numbers for which the products are exact for dividends of 16 bits, found as in libjpeg-turbo
 * (jcdctmgr.c, compute_reciprocal). */
void base_steps_set(struct base_steps *to, const uint16_t steps[JPEG_COEFFICIENTS]);

/* Tables that are the same for all pictures. */
struct base_order {
    /* For each row of a block and each set of columns, where these are in the order of the scan. */
    uint64_t row[JPEG_SIDE][1 << JPEG_SIDE];
    uint32_t token[2 * BASE_SMALL]; /* of value + BASE_SMALL, without a run and a table */
};

void base_order_set(struct base_order *order);

/* Quantised blocks. The instruction set decides on the order of the coefficients. */
struct base_blocks {
    _Alignas(64) int16_t value[BASE_BLOCKS][JPEG_COEFFICIENTS];
    uint64_t filled[BASE_BLOCKS]; /* bit k: that of place k in the order of the scan is not 0 */
};

/* A block of the MCU, in a piece. */
struct base_unit {
    int32_t *last_dc; /* of the component's block before */
    uint32_t table;   /* index of its DC table: 0 for luma, 2 for chroma */
    uint32_t first;   /* its block in the first MCU; that of the next MCU is `step` further */
    uint32_t step;
    uint32_t real; /* MCUs whose block is in the picture; the others have a flat one to fill them up */
};

struct base_piece {
    struct base_blocks blocks;
    struct base_order order;
    struct base_unit unit[JPEG_MCU_BLOCKS_MAX];
    unsigned unit_count;
};

/* Bits that no full byte has yet: the lowest `count`, less than 8. */
struct base_bits {
    uint64_t word, count;
};

struct base_level {
    const char *name;
    bool sorts;   /* blocks are in the order of the scan, else row by row */
    bool vectors; /* faster than libjpeg-turbo, which else encodes all pictures */
    /* Converts interleaved RGB. */
    void (*colours)(const uint8_t *rgb, size_t count, uint8_t *luma, uint8_t *cb, uint8_t *cr);
    /* Transforms `count` adjacent blocks to those of the piece that begin at `to`. It reads and writes up to
     * BASE_LANES_MAX - 1 blocks more. */
    void (*transform)(const uint8_t *from, size_t stride, const struct base_steps *steps, unsigned count,
                      struct base_piece *piece, unsigned to);
    /* Writes the tokens of the piece's first `mcus` MCUs to `to`, which has room for BASE_TOKENS, and returns
     * their end. */
    uint32_t *(*find)(const struct base_piece *piece, unsigned mcus, uint32_t *to);
    /* Writes the bytes of up to BASE_WRITE_TOKENS tokens to `to`, which has room for BASE_WRITE_BYTES, and
     * returns their end. */
    uint8_t *(*write)(const uint32_t *token, size_t count, const uint64_t code[BASE_INDICES],
                      struct base_bits *bits, uint8_t *to);
};

extern const struct base_level base_level_plain, base_level_baseline, base_level_avx2, base_level_avx512,
    base_level_neon;

/* The instruction sets that this processor has, best first; NULL ends them. */
enum { BASE_LEVELS_MAX = 5 };
void base_levels(const struct base_level *level[BASE_LEVELS_MAX + 1]);

#endif
