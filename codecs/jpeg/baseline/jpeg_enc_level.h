/* SPDX-License-Identifier: MIT
 * What an instruction set implements of the encoder, and what it reads and makes. Internal to
 * codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LEVEL_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/jpeg/segments.h"

enum {
    JPEG_ENC_MCUS = 16,     /* of a row, in a piece that is transformed before its codes are found */
    JPEG_ENC_LANES_MAX = 4, /* blocks that are transformed at once, at most; divides JPEG_ENC_MCUS */
    JPEG_ENC_BLOCKS = JPEG_ENC_MCUS * JPEG_MCU_BLOCKS_MAX,
    JPEG_ENC_BLOCK_TOKENS =
        JPEG_COEFFICIENTS, /* at most: DC, then 63 values; or fewer, and the end of the block */
    JPEG_ENC_TOKENS = JPEG_ENC_BLOCKS * JPEG_ENC_BLOCK_TOKENS + 1, /* of a piece, and one beyond its end */
    JPEG_ENC_RUN_MAX = 15, /* zeros before a value; 16 zeros are a symbol of their own */
    JPEG_ENC_ZEROS = 0xf0,
    JPEG_ENC_SMALL_BITS = 7, /* of values whose tokens are looked up */
    JPEG_ENC_SMALL = 1 << JPEG_ENC_SMALL_BITS,

    /* A token is a symbol with its table, and the bits of its value above: value << JPEG_ENC_INDEX | table <<
     * 8 | symbol. A code is bits << size of the value << JPEG_ENC_CODE | length, where the length is that of
     * both.
     */
    JPEG_ENC_INDEX = 10,
    JPEG_ENC_INDICES = 1 << JPEG_ENC_INDEX,
    JPEG_ENC_CODE = 6,
    JPEG_ENC_CODE_MAX = 27, /* bits of code and value */

    JPEG_ENC_WRITE_TOKENS = 1024, /* whose bytes are made at once */
    /* Two bytes for each of all bits, and what is stored beyond the end. */
    JPEG_ENC_WRITE_BYTES = 2 * (JPEG_ENC_WRITE_TOKENS * JPEG_ENC_CODE_MAX / 8 + 8) + 8,
};
_Static_assert((int)JPEG_ENC_INDICES == JPEG_CODE_TABLES * JPEG_SYMBOLS,
               "a token's index names table and symbol");

/* Division of a coefficient by eight times its step, rounded to the nearest, row by row: in 16 bits, the high
 * half of (|coefficient| + half) * factor, then the high half of that times `scale`. */
struct jpeg_enc_quantiser {
    _Alignas(64) uint16_t half[JPEG_COEFFICIENTS], factor[JPEG_COEFFICIENTS], scale[JPEG_COEFFICIENTS];
};

/* Fills in the numbers for which the products are exact for dividends of 16 bits, found as in libjpeg-turbo
 * (jcdctmgr.c, compute_reciprocal). */
void jpeg_enc_quantiser_set(struct jpeg_enc_quantiser *to, const uint16_t steps[JPEG_COEFFICIENTS]);

/* Tables that are the same for all pictures. */
struct jpeg_enc_order {
    /* For each row of a block and each set of columns, where these are in the order of the scan. */
    uint64_t row[JPEG_SIDE][1 << JPEG_SIDE];
    uint32_t token[2 * JPEG_ENC_SMALL]; /* of value + JPEG_ENC_SMALL, without a run and a table */
};

void jpeg_enc_order_set(struct jpeg_enc_order *order);

/* Quantised blocks. The instruction set decides on the order of the coefficients. */
struct jpeg_enc_blocks {
    _Alignas(64) int16_t value[JPEG_ENC_BLOCKS][JPEG_COEFFICIENTS];
    uint64_t filled[JPEG_ENC_BLOCKS]; /* bit k: that of place k in the order of the scan is not 0 */
};

/* A block of the MCU, in a piece. */
struct jpeg_enc_unit {
    int32_t *last_dc; /* of the component's block before */
    uint32_t table;   /* index of its DC table: 0 for luma, 2 for chroma */
    uint32_t first;   /* its block in the first MCU; that of the next MCU is `step` further */
    uint32_t step;
    uint32_t real; /* MCUs whose block is in the picture; the others have a flat one to fill them up */
};

struct jpeg_enc_piece {
    struct jpeg_enc_blocks blocks;
    struct jpeg_enc_order order;
    struct jpeg_enc_unit unit[JPEG_MCU_BLOCKS_MAX];
    unsigned unit_count;
};

/* Bits that no full byte has yet: the lowest `count`, less than 8. */
struct jpeg_enc_bits {
    uint64_t word, count;
};

struct jpeg_enc_level {
    const char *name;
    bool sorts;   /* blocks are in the order of the scan, else row by row */
    bool vectors; /* faster than libjpeg-turbo, which else encodes all pictures */
    /* Converts interleaved RGB. */
    void (*colours)(const uint8_t *rgb, size_t count, uint8_t *luma, uint8_t *cb, uint8_t *cr);
    /* Transforms `count` adjacent blocks to those of the piece that begin at `to`. It reads and writes up to
     * JPEG_ENC_LANES_MAX - 1 blocks more. */
    void (*transform)(const uint8_t *from, size_t stride, const struct jpeg_enc_quantiser *quantiser,
                      unsigned count, struct jpeg_enc_piece *piece, unsigned to);
    /* Writes the tokens of the piece's first `mcus` MCUs to `to`, which has room for JPEG_ENC_TOKENS, and
     * returns their end. */
    uint32_t *(*find)(const struct jpeg_enc_piece *piece, unsigned mcus, uint32_t *to);
    /* Writes the bytes of up to JPEG_ENC_WRITE_TOKENS tokens to `to`, which has room for
     * JPEG_ENC_WRITE_BYTES, and returns their end. */
    uint8_t *(*write)(const uint32_t *token, size_t count, const uint64_t code[JPEG_ENC_INDICES],
                      struct jpeg_enc_bits *bits, uint8_t *to);
};

extern const struct jpeg_enc_level jpeg_enc_level_plain, jpeg_enc_level_baseline, jpeg_enc_level_avx2,
    jpeg_enc_level_avx512, jpeg_enc_level_neon;

/* The instruction sets that this process may use (core/processor.h), best first; NULL ends them. */
enum { JPEG_ENC_LEVELS_MAX = 5 };
void jpeg_enc_levels(const struct jpeg_enc_level *level[JPEG_ENC_LEVELS_MAX + 1]);

#endif
