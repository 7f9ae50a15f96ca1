/* SPDX-License-Identifier: MIT
 * Template: the tokens of blocks, one after the other. Included after the definition of transform(); SORTS
 * says whether that leaves blocks in the order of the scan. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASE_FIND_H
#define BLURD_CODECS_JPEG_BASELINE_BASE_FIND_H

#include "codecs/jpeg/baseline/base_level.h"

/* The bits of a negative value are those of the value less one. `value` is not 0. */
static inline uint32_t token_of(uint32_t table, unsigned run, int32_t value) {
    int32_t sign = value >> 31;
    uint32_t size = 32 - (uint32_t)__builtin_clz((uint32_t)((value ^ sign) - sign));
    uint32_t bits = (uint32_t)(value + sign) & ((1u << size) - 1);
    return bits << BASE_INDEX | table << 8 | run << 4 | size;
}

/* The tokens of AC. `filled` is without DC. */
static inline uint32_t *put_ac(uint32_t *to, const int16_t *block, uint64_t filled, uint32_t table) {
    unsigned last = 0;
    for (; filled; filled &= filled - 1) {
        unsigned k = (unsigned)__builtin_ctzll(filled), run = k - last - 1;
        for (; run > BASE_RUN_MAX; run -= BASE_RUN_MAX + 1) {
            *to++ = table << 8 | BASE_ZEROS;
        }
        *to++ = token_of(table, run, block[SORTS ? k : jpeg_head_zigzag[k]]);
        last = k;
    }
    *to = table << 8;
    return to + (last != JPEG_COEFFICIENTS - 1);
}

/* All tokens of a block; `filled` has DC or not. */
static inline uint32_t *put_block(uint32_t *to, const struct base_unit *unit, const int16_t *block,
                                  uint64_t filled, int32_t difference) {
    *to++ = difference ? token_of(unit->table, 0, difference) : unit->table << 8;
    return put_ac(to, block, filled & ~(uint64_t)1, unit->table + 1);
}

/* A block that is not in the picture has the DC of the one before it. */
static inline uint32_t *put_flat(uint32_t *to, const struct base_unit *unit) {
    *to++ = unit->table << 8;
    *to++ = (unit->table + 1) << 8;
    return to;
}

#ifndef FINDS_GROUPS
static uint32_t *find_tokens(const struct base_piece *piece, unsigned mcus, uint32_t *to) {
    for (uint32_t mcu = 0; mcu < mcus; mcu++) {
        for (unsigned i = 0; i < piece->unit_count; i++) {
            const struct base_unit *unit = &piece->unit[i];
            if (mcu >= unit->real) {
                to = put_flat(to, unit);
                continue;
            }
            uint32_t at = unit->first + mcu * unit->step;
            int32_t dc = piece->blocks.value[at][0], difference = dc - *unit->last_dc;
            *unit->last_dc = dc;
            to = put_block(to, unit, piece->blocks.value[at], piece->blocks.filled[at], difference);
        }
    }
    return to;
}
#endif

#endif
