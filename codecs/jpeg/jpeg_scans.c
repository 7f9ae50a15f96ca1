/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/jpeg_scans.h"

#include <string.h>

enum {
    ZERO_RUN = 15,
    VALUE_BITS_MAX = 14, /* of a coefficient, with the bits that are missing */
    VALUE_MAX = (1 << 15) - 1,
};

#define INLINE static inline __attribute__((always_inline))
#define TOP ((uint64_t)1 << 63)

/* ---- bits ---- */

/* A symbol with its code taken, of which there are 16 bits; SYMBOL_NONE: there is no such code. Afterwards
 * there are at least SYMBOL_LEAVES. The code is found while further bits are loaded, since each symbol waits
 * for the one before. */
enum { SYMBOL_NONE = 256, SYMBOL_LEAVES = JPEG_DEC_BITS_LOADED - JPEG_DEC_CODE_BITS };
_Static_assert(SYMBOL_LEAVES - JPEG_DEC_BITS_VALUE >= JPEG_DEC_CODE_BITS,
               "a symbol follows a value without a load");
_Static_assert((int)VALUE_BITS_MAX <= (int)JPEG_DEC_BITS_VALUE && (int)ZERO_RUN <= (int)SYMBOL_LEAVES,
               "a value or a number of ends follows a symbol");
INLINE uint32_t take_symbol(struct jpeg_dec_bits *bits, const struct jpeg_dec_codes *codes) {
    uint32_t code = jpeg_dec_codes_find(codes, bits->word);
    jpeg_dec_bits_load(bits);
    jpeg_dec_bits_drop(bits, code & 255);
    return code ? code >> 8 : SYMBOL_NONE;
}

/* Whether the data has lasted so far. The window moves on after some blocks. */
INLINE bool lasts(struct jpeg_scans *bands) {
    return bands->bits.at < bands->bytes.limit || jpeg_dec_bytes_more(&bands->bytes, &bands->bits);
}

INLINE int16_t *block_at(const struct jpeg_scans *bands, uint32_t number) {
    return bands->values + (size_t)number * JPEG_DEC_COEFFICIENTS;
}

/* Fetches a block of the row that comes some time after block x. */
INLINE void fetch_block(const struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t x,
                        uint32_t to) {
    enum { AHEAD = 8 };
    const int16_t *block =
        block_at(bands, coefficients_block(&row->blocks, to - x > AHEAD ? x + AHEAD : to - 1));
    __builtin_prefetch(block, 1);
    __builtin_prefetch(block + JPEG_DEC_COEFFICIENTS / 2, 1);
}

void jpeg_scans_restart(struct jpeg_scans *bands) {
    memset(bands->last_dc, 0, sizeof bands->last_dc);
    bands->ends = 0;
}

/* ---- DC ---- */

/* Adds the difference of a block. */
INLINE bool read_dc(struct jpeg_scans *bands, unsigned part, int16_t *block) {
    struct jpeg_dec_bits bits = bands->bits;
    jpeg_dec_bits_load(&bits);
    uint32_t size = take_symbol(&bits, &bands->dc[part]);
    if (size > VALUE_BITS_MAX) {
        return false;
    }
    int32_t sum = bands->last_dc[part] + jpeg_dec_bits_value(&bits, size), value = sum * (1 << bands->low);
    bands->last_dc[part] = sum;
    bands->bits = bits;
    block[0] = (int16_t)value;
    return value >= -VALUE_MAX && value <= VALUE_MAX;
}

bool jpeg_scans_dc(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from, uint32_t to) {
    for (uint32_t x = from; x < to; x++) {
        if (!read_dc(bands, row->part, block_at(bands, coefficients_block(&row->blocks, x))) ||
            !lasts(bands)) {
            return false;
        }
    }
    return true;
}

bool jpeg_scans_dc_refine(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from,
                          uint32_t to) {
    for (uint32_t x = from; x < to; x++) {
        int16_t *block = block_at(bands, coefficients_block(&row->blocks, x));
        jpeg_dec_bits_load(&bands->bits);
        block[0] = (int16_t)(block[0] | (int32_t)jpeg_dec_bits_take(&bands->bits, 1) << bands->low);
        if (!lasts(bands)) {
            return false;
        }
    }
    return true;
}

/* ---- AC for the first time ---- */

/* The number of blocks that end with this one. */
INLINE uint32_t take_ends(struct jpeg_dec_bits *bits, uint32_t run) {
    return (1u << run) + (uint32_t)jpeg_dec_bits_take(bits, run);
}

/* Reads coefficients up to the end of the band, or of the block. */
INLINE bool read_ac(struct jpeg_scans *bands, const struct jpeg_dec_codes *codes, int16_t *block,
                    uint64_t *filled) {
    struct jpeg_dec_bits bits = bands->bits;
    const uint32_t last = bands->to, low = bands->low;
    uint64_t mask = *filled;
    jpeg_dec_bits_load(&bits);
    for (uint32_t k = bands->from; k <= last; k++) {
        uint32_t symbol = take_symbol(&bits, codes), run = symbol >> 4, size = symbol & 15;
        k += run;
        if (size == 0) {
            if (run < ZERO_RUN) {
                bands->ends = take_ends(&bits, run) - 1;
                break;
            }
            if (run > ZERO_RUN || k >= last) { /* no code, or zeros up to the end */
                return false;
            }
            continue;
        }
        if (k > last || size + low > VALUE_BITS_MAX) {
            return false;
        }
        block[bands->place[k]] = (int16_t)(jpeg_dec_bits_value(&bits, size) * (1 << low));
        mask |= TOP >> k;
    }
    *filled = mask;
    bands->bits = bits;
    return true;
}

bool jpeg_scans_ac(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from, uint32_t to) {
    for (uint32_t x = from; x < to;) {
        uint32_t left = to - x, skipped = bands->ends < left ? bands->ends : left;
        bands->ends -= skipped;
        x += skipped;
        if (x < to) {
            fetch_block(bands, row, x, to);
            uint32_t number = coefficients_block(&row->blocks, x++);
            if (!read_ac(bands, &bands->ac[row->part], block_at(bands, number), &bands->filled[number]) ||
                !lasts(bands)) {
                return false;
            }
        }
    }
    return true;
}

bool jpeg_scans_whole(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from,
                      uint32_t to) {
    for (uint32_t x = from; x < to; x++) {
        uint32_t number = coefficients_block(&row->blocks, x);
        int16_t *block = block_at(bands, number);
        if (!read_dc(bands, row->part, block) ||
            !read_ac(bands, &bands->ac[row->part], block, &bands->filled[number]) || bands->ends > 0 ||
            !lasts(bands)) {
            return false;
        }
    }
    return true;
}

/* ---- AC, one bit more ---- */

/* Puts the lowest bits of a number where the mask is set. */
INLINE uint64_t deposit(uint64_t number, uint64_t mask, bool quick) {
    uint64_t result = 0;
#if defined(__x86_64__)
    if (quick) {
        __asm__("pdepq %2, %1, %0" : "=r"(result) : "r"(number), "r"(mask));
        return result;
    }
#else
    (void)quick;
#endif
    for (; number && mask; number >>= 1, mask &= mask - 1) {
        result |= number & 1 ? mask & -mask : 0;
    }
    return result;
}

/* The bit of the mask that has `run` bits between it and `last`, which is above it, and `below` bits below.
 */
INLINE uint64_t select_bit(uint64_t mask, uint64_t last, uint32_t run, uint32_t below, bool quick) {
    if (quick) {
        return deposit((uint64_t)1 << below, mask, quick);
    }
    for (mask &= last - 1; run > 0; run--) {
        mask &= ~(TOP >> __builtin_clzll(mask));
    }
    return TOP >> __builtin_clzll(mask);
}

/* Bits for coefficients that are not 0, one for each, which say whether it changes. The first is the highest
 * of `count` bits. */
struct changes {
    uint64_t bits;
    unsigned count;
};

/* Takes as many as there are in the mask beyond those of before. Few are taken at once, so that the code of a
 * symbol stays behind a symbol and its sign. */
INLINE void take_changes(struct jpeg_dec_bits *bits, uint64_t mask, struct changes *changes) {
    enum { FEW = 23 };
    _Static_assert(SYMBOL_LEAVES - 1 - FEW >= JPEG_DEC_CODE_BITS, "a symbol follows");
    unsigned count = (unsigned)__builtin_popcountll(mask) - changes->count;
    changes->count += count;
    while (count > FEW) {
        jpeg_dec_bits_load(bits);
        changes->bits = changes->bits << FEW | jpeg_dec_bits_take(bits, FEW);
        count -= FEW;
        jpeg_dec_bits_load(bits);
    }
    changes->bits = changes->bits << count | jpeg_dec_bits_take(bits, count);
}

/* Moves coefficients away from 0. */
INLINE void change(const uint8_t *place, int16_t *block, uint64_t mask, int32_t step) {
    for (; mask; mask &= mask - 1) {
        int16_t *value = &block[place[JPEG_DEC_COEFFICIENTS - 1 - __builtin_ctzll(mask)]];
        int32_t sign = *value >> 15;
        *value = (int16_t)(*value + (step ^ sign) - sign);
    }
}

/* Reads new coefficients with the changes of those before them, until the band or the new ones end. False:
 * damaged. */
INLINE bool read_new(struct jpeg_scans *bands, const struct jpeg_dec_codes *codes, int16_t *block,
                     uint64_t band, uint64_t *filled, struct changes *changes, bool quick) {
    const int32_t step = 1 << bands->low;
    const uint64_t old = *filled & band, zeros = ~*filled & band;
    uint32_t left = (uint32_t)__builtin_popcountll(zeros);
    struct jpeg_dec_bits bits = bands->bits;
    uint64_t bit = 0, made = 0; /* the last coefficient, the new ones */
    jpeg_dec_bits_load(&bits);
    do {
        uint32_t symbol = take_symbol(&bits, codes), run = symbol >> 4, size = symbol & 15;
        if (size == 0 && run < ZERO_RUN) {
            bands->ends = take_ends(&bits, run);
            break;
        }
        if (size > 1 || run > ZERO_RUN || run >= left) {
            return false;
        }
        left -= run + 1;
        bit = select_bit(zeros, bit, run, left, quick);
        if (size == 1) {
            block[bands->place[JPEG_DEC_COEFFICIENTS - 1 - __builtin_ctzll(bit)]] =
                (int16_t)(jpeg_dec_bits_take(&bits, 1) ? step : -step);
            made |= bit;
        }
        take_changes(&bits, old & ~(bit - 1), changes);
    } while (band & (bit - 1));
    *filled |= made;
    bands->bits = bits;
    return true;
}

INLINE bool refine(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from, uint32_t to,
                   bool quick) {
    const uint64_t band = ~(uint64_t)0 >> bands->from & ~(~(uint64_t)0 >> 1 >> bands->to);
    for (uint32_t x = from; x < to; x++) {
        uint32_t number = coefficients_block(&row->blocks, x);
        int16_t *block = block_at(bands, number);
        const uint64_t old = bands->filled[number] & band;
        struct changes changes = {0};
        fetch_block(bands, row, x, to);
        if (bands->ends == 0 &&
            !read_new(bands, &bands->ac[row->part], block, band, &bands->filled[number], &changes, quick)) {
            return false;
        }
        if (bands->ends > 0) {
            jpeg_dec_bits_load(&bands->bits);
            take_changes(&bands->bits, old, &changes);
            bands->ends--;
        }
        change(bands->place, block, deposit(changes.bits, old, quick), 1 << bands->low);
        if (!lasts(bands)) {
            return false;
        }
    }
    return true;
}

#if defined(__x86_64__)
__attribute__((target("bmi,bmi2,lzcnt,popcnt"))) static bool
refine_quickly(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from, uint32_t to) {
    return refine(bands, row, from, to, true);
}
#endif

bool jpeg_scans_ac_refine(struct jpeg_scans *bands, const struct jpeg_scans_row *row, uint32_t from,
                          uint32_t to) {
#if defined(__x86_64__)
    if (bands->quick) {
        return refine_quickly(bands, row, from, to);
    }
#endif
    return refine(bands, row, from, to, false);
}
