/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/jpeg_dec_codes.h"

#include <string.h>

enum { ZERO_RUN = 15, LOOKS = 1 << JPEG_DEC_LOOK_BITS };

/* The fields of a value without bits. */
#define NO_VALUE ((uint64_t)63 << 48)
#define ESCAPE (NO_VALUE | JPEG_DEC_ESCAPE << 8)

const uint64_t jpeg_dec_codes_escapes[LOOKS] = {[0 ... LOOKS - 1] = ESCAPE};

/* All entries that begin with the code. */
static void fill_quick(struct jpeg_dec_codes *codes, uint32_t code, uint32_t length, uint8_t symbol) {
    uint32_t free_bits = JPEG_DEC_QUICK_BITS - length;
    for (uint32_t i = 0; i < 1u << free_bits; i++) {
        codes->quick[code << free_bits | i] = (uint16_t)((uint32_t)symbol << 8 | length);
    }
}

bool jpeg_dec_codes_make(struct jpeg_dec_codes *codes, const struct jpeg_dec_table *table) {
    uint32_t number = 0;
    memset(codes, 0, sizeof *codes);
    if (!jpeg_code_table_number(table->counts, codes->limit, codes->first)) {
        return false;
    }
    for (uint32_t length = 1; length <= JPEG_DEC_QUICK_BITS; length++) {
        for (uint32_t i = 0; i < table->counts[length - 1]; i++, number++) {
            fill_quick(codes, number - (uint32_t)codes->first[length], length, table->symbols[number]);
        }
    }
    memcpy(codes->symbol, table->symbols, sizeof codes->symbol);
    return true;
}

/* Entries of one symbol. */
static uint64_t entry_of(uint32_t symbol, uint64_t length, enum jpeg_dec_kind kind, int32_t value_max) {
    uint64_t run = kind == JPEG_DEC_AC ? symbol >> 4 : 0, size = symbol & 15, taken = length + size;
    if (kind == JPEG_DEC_AC && size == 0 && run != ZERO_RUN) {
        return NO_VALUE | length | JPEG_DEC_BLOCK_END << 8;
    }
    if (taken > JPEG_DEC_TAKEN_MAX || (1 << size) - 1 > value_max) {
        return ESCAPE;
    }
    return taken | (run + 1) << 8 | run << 16 | run << 24 | (63 - size) << 48 | length << 56;
}

static void fill_single(uint64_t *single, const struct jpeg_dec_table *table, enum jpeg_dec_kind kind,
                        int32_t value_max) {
    uint32_t code = 0, number = 0;
    for (uint32_t i = 0; i < LOOKS; i++) {
        single[i] = ESCAPE;
    }
    for (uint32_t length = 1; length <= JPEG_DEC_LOOK_BITS; length++, code <<= 1) {
        uint32_t free_bits = JPEG_DEC_LOOK_BITS - length;
        for (uint32_t end = code + table->counts[length - 1]; code < end; code++, number++) {
            uint64_t entry = entry_of(table->symbols[number], length, kind, value_max);
            for (uint32_t i = 0; i < 1u << free_bits; i++) {
                single[code << free_bits | i] = entry;
            }
        }
    }
}

static uint64_t taken_by(uint64_t entry) {
    return entry & 255;
}

static uint64_t step_of(uint64_t entry) {
    return entry >> 8 & 255;
}

static uint64_t code_bits(uint64_t entry) {
    return step_of(entry) == JPEG_DEC_BLOCK_END ? taken_by(entry) : entry >> 56;
}

/* The fields that an entry gets for another coefficient in the index, for the end of the block, or for both;
 * the entry itself takes `taken` bits. The next bits are at the top of `index`. */
static uint64_t addition_of(const uint64_t *single, uint32_t index, uint64_t taken) {
    uint64_t next = single[index];
    bool there =
        taken + code_bits(next) <= JPEG_DEC_LOOK_BITS && taken + taken_by(next) <= JPEG_DEC_TAKEN_MAX;
    if (!there || step_of(next) == JPEG_DEC_ESCAPE) {
        return 0;
    }
    if (step_of(next) == JPEG_DEC_BLOCK_END) {
        return next & 0xFFFF;
    }
    uint64_t addition = next & ~((uint64_t)255 << 16);
    taken += taken_by(next);
    if (taken < JPEG_DEC_LOOK_BITS) {
        uint64_t last = single[index << taken_by(next) & (LOOKS - 1)];
        bool ends = step_of(last) == JPEG_DEC_BLOCK_END && taken + taken_by(last) <= JPEG_DEC_LOOK_BITS;
        addition += ends ? last & 0xFFFF : 0;
    }
    return addition;
}

/* The first of two coefficients: the index has its value. */
static uint64_t first_of(uint64_t single, uint32_t index) {
    uint64_t word = (uint64_t)index << (64 - JPEG_DEC_LOOK_BITS) << (single >> 56);
    uint64_t value = (uint16_t)jpeg_dec_codes_value(word, single >> 48);
    return (single & 0xFFFFFF) | step_of(single) << 24 | value << 32 | taken_by(single) << 56;
}

/* Adds to all entries what is behind their symbol. Additions depend on the bits that the symbol takes alone,
 * and are found once: those behind n bits from 1 << (JPEG_DEC_LOOK_BITS - n) on. */
static void extend(uint64_t *entry, const uint64_t *single) {
    uint64_t addition[LOOKS];
    uint32_t found = 0;
    for (uint32_t i = 0, count; i < LOOKS; i += count) {
        uint64_t taken = taken_by(single[i]);
        if (step_of(single[i]) >= JPEG_DEC_ESCAPE || taken >= JPEG_DEC_LOOK_BITS) {
            entry[i] = single[i];
            count = 1;
            continue;
        }
        count = 1u << (JPEG_DEC_LOOK_BITS - taken);
        for (uint32_t k = 0; k < count && !(found & 1u << taken); k++) {
            addition[count + k] = addition_of(single, k << taken, taken);
        }
        found |= 1u << taken;
        const uint64_t first = first_of(single[i], i);
        for (uint32_t k = 0; k < count; k++) {
            uint64_t more = addition[count + k];
            entry[i + k] = (more >> 48 ? first : single[i]) + more;
        }
    }
}

bool jpeg_dec_codes_make_look(struct jpeg_dec_look *look, const struct jpeg_dec_table *table,
                              enum jpeg_dec_kind kind, int32_t value_max) {
    uint64_t single[LOOKS];
    if (!jpeg_dec_codes_make(&look->codes, table)) {
        return false;
    }
    fill_single(kind == JPEG_DEC_DC ? look->entry : single, table, kind, value_max);
    if (kind == JPEG_DEC_AC) {
        extend(look->entry, single);
    }
    return true;
}
