/* SPDX-License-Identifier: MIT
 * Template: the tokens of blocks, one after the other. Included after the definition of transform(); SORTS
 * says whether that leaves blocks in the order of the scan. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_FIND_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_FIND_H

#include "codecs/jpeg/baseline/jpeg_enc_level.h"

/* The token of a value that follows no zeros. The bits of a negative value are those of the value less one.
 */
static inline uint32_t token_of(const struct jpeg_enc_order *order, uint32_t table, int32_t value) {
    if (value >= -JPEG_ENC_SMALL && value < JPEG_ENC_SMALL) {
        return order->token[value + JPEG_ENC_SMALL] + (table << 8);
    }
    int32_t sign = value >> 31;
    uint32_t size = 32 - (uint32_t)__builtin_clz((uint32_t)((value ^ sign) - sign));
    return ((uint32_t)(value + sign) & ((1u << size) - 1)) << JPEG_ENC_INDEX | table << 8 | size;
}

/* The tokens of AC where more than 15 zeros precede a value. */
static uint32_t *put_ac_far(uint32_t *to, const struct jpeg_enc_order *order, const int16_t *block,
                            uint64_t filled, uint32_t table) {
    uint32_t next = 1 << 4; /* the place behind the last value */
    for (; filled; filled &= filled - 1) {
        unsigned k = (unsigned)__builtin_ctzll(filled);
        uint32_t run = (k << 4) - next;
        for (; run > JPEG_ENC_RUN_MAX << 4; run -= (JPEG_ENC_RUN_MAX + 1) << 4) {
            *to++ = table << 8 | JPEG_ENC_ZEROS;
        }
        *to++ = token_of(order, table, block[SORTS ? k : jpeg_zigzag[k]]) + run;
        next = (k + 1) << 4;
    }
    *to = table << 8;
    return to + (next != JPEG_COEFFICIENTS << 4);
}

/* Whether more than 15 zeros precede a value. */
static inline bool is_far(uint64_t filled) {
    uint64_t near = (filled | 1) << 1;
    near |= near << 1;
    near |= near << 2;
    near |= near << 4;
    near |= near << 8;
    return filled & ~near;
}

/* The tokens of AC. `filled` is without DC. Several at a time, since each end of a loop costs as much as
 * four: the tokens behind the last one are overwritten. */
static inline uint32_t *put_ac(uint32_t *to, const struct jpeg_enc_order *order, const int16_t *block,
                               uint64_t filled, uint32_t table) {
    enum { AT_ONCE = 4 };
    const uint64_t last = (uint64_t)1 << (JPEG_COEFFICIENTS - 1);
    const bool full = filled & last;
    uint32_t next = 1 << 4;
    if (is_far(filled)) {
        return put_ac_far(to, order, block, filled, table);
    }
    while (filled) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            unsigned k = (unsigned)__builtin_ctzll(filled | last);
            *to = token_of(order, table, block[SORTS ? k : jpeg_zigzag[k]]) + (k << 4) - next;
            to += filled != 0;
            filled &= filled - 1;
            next = (k + 1) << 4;
        }
    }
    *to = table << 8;
    return to + !full;
}

/* All tokens of a block; `filled` has DC or not. */
static inline uint32_t *put_block(uint32_t *to, const struct jpeg_enc_order *order,
                                  const struct jpeg_enc_unit *unit, const int16_t *block, uint64_t filled,
                                  int32_t difference) {
    *to++ = token_of(order, unit->table, difference);
    return put_ac(to, order, block, filled & ~(uint64_t)1, unit->table + 1);
}

/* A block that is not in the picture has the DC of the one before it. */
static inline uint32_t *put_flat(uint32_t *to, const struct jpeg_enc_unit *unit) {
    *to++ = unit->table << 8;
    *to++ = (unit->table + 1) << 8;
    return to;
}

#ifndef FINDS_GROUPS
static uint32_t *find_tokens(const struct jpeg_enc_piece *piece, unsigned mcus, uint32_t *to) {
    for (uint32_t mcu = 0; mcu < mcus; mcu++) {
        for (unsigned i = 0; i < piece->unit_count; i++) {
            const struct jpeg_enc_unit *unit = &piece->unit[i];
            if (mcu >= unit->real) {
                to = put_flat(to, unit);
                continue;
            }
            uint32_t at = unit->first + mcu * unit->step;
            int32_t dc = piece->blocks.value[at][0], difference = dc - *unit->last_dc;
            *unit->last_dc = dc;
            to = put_block(to, &piece->order, unit, piece->blocks.value[at], piece->blocks.filled[at],
                           difference);
        }
    }
    return to;
}
#endif

#endif
