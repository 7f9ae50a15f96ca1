/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/seq_codes.h"

#include <string.h>

enum { ZERO_RUN = 15 };

/* All entries that begin with the code. */
static void fill_quick(struct seq_codes *codes, uint32_t code, uint32_t length, uint8_t symbol) {
    uint32_t free_bits = SEQ_QUICK_BITS - length;
    for (uint32_t i = 0; i < 1u << free_bits; i++) {
        codes->quick[code << free_bits | i] = (uint16_t)((uint32_t)symbol << 8 | length);
    }
}

bool seq_codes_make(struct seq_codes *codes, const struct seq_table *table) {
    uint32_t code = 0, number = 0;
    memset(codes, 0, sizeof *codes);
    for (uint32_t length = 1; length <= SEQ_CODE_BITS; length++, code <<= 1) {
        uint32_t end = code + table->counts[length - 1];
        if (end > code && end >= 1u << length) { /* no room, or a code of ones alone */
            return false;
        }
        codes->first[length] = (int32_t)number - (int32_t)code;
        codes->limit[length] = end << (SEQ_CODE_BITS - length);
        for (; code < end; code++, number++) {
            codes->symbol[number] = table->symbols[number];
            if (length <= SEQ_QUICK_BITS) {
                fill_quick(codes, code, length, table->symbols[number]);
            }
        }
    }
    return true;
}

/* One symbol. */
struct single {
    enum {
        ESCAPE,
        WHOLE, /* its value is in the index */
        END,   /* there are no further coefficients */
    } kind;
    uint32_t run, length, size; /* zeros before it; bits of the code, of the value */
};

static struct single single_of(uint32_t symbol, uint32_t length, int32_t value_max) {
    struct single single = {WHOLE, symbol >> 4, length, symbol & 15};
    if (single.size == 0 && single.run != ZERO_RUN) {
        single.kind = END;
    } else if (length + single.size > SEQ_AC_BITS || (1 << single.size) - 1 > value_max) {
        single.kind = ESCAPE;
    }
    return single;
}

static uint64_t entry_of(const struct single *single, int32_t value) {
    uint64_t bits = single->length + single->size, distance = single->run;
    switch (single->kind) {
    case WHOLE:
        return bits | (distance + 1) << 8 | distance << 16 | (distance + 1) << 24 |
               (uint64_t)(uint16_t)value << 32;
    case END:
        return bits | (uint64_t)SEQ_BLOCK_END << 8;
    case ESCAPE:
        break;
    }
    return (uint64_t)SEQ_ESCAPE << 8;
}

/* Fills the entries that begin with the code, each with the value of the bits behind it. */
static void fill_look(uint64_t *look, uint32_t code, const struct single *single) {
    uint32_t size = single->kind == WHOLE ? single->size : 0;
    uint32_t rest = SEQ_AC_BITS - single->length - size;
    for (uint32_t bits = 0; bits < 1u << size; bits++) {
        int32_t value = size > 0 ? seq_codes_value((uint64_t)bits << (64 - size), 63 - size) : 0;
        uint64_t entry = entry_of(single, value);
        uint64_t *to = look + ((size_t)(code << size | bits) << rest);
        for (uint32_t i = 0; i < 1u << rest; i++) {
            to[i] = entry;
        }
    }
}

static uint64_t step_of(uint64_t entry) {
    return entry >> 8 & 255;
}

/* Joins a symbol with the one behind it. */
static uint64_t join(uint64_t first, uint64_t second) {
    uint64_t step = step_of(first), distance = step + (second >> 16 & 255);
    return (first & 0xFFFF00FF0000) | ((first & 255) + (second & 255)) | (step + step_of(second)) << 8 |
           distance << 24 | (second >> 32 & 0xFFFF) << 48;
}

bool seq_codes_make_ac(struct seq_ac_codes *codes, const struct seq_table *table, int32_t value_max) {
    enum { SIZE = 1 << SEQ_AC_BITS };
    const struct single escape = {ESCAPE, 0, 0, 0};
    uint64_t look[SIZE];
    uint32_t code = 0, number = 0;
    if (!seq_codes_make(&codes->codes, table)) {
        return false;
    }
    fill_look(look, 0, &escape);
    for (uint32_t length = 1; length <= SEQ_AC_BITS; length++, code <<= 1) {
        for (uint32_t end = code + table->counts[length - 1]; code < end; code++, number++) {
            struct single single = single_of(table->symbols[number], length, value_max);
            fill_look(look, code, &single);
        }
    }
    for (uint32_t i = 0; i < SIZE; i++) {
        uint64_t first = look[i], second = look[i << (first & 255) & (SIZE - 1)];
        bool both = step_of(first) < SEQ_ESCAPE && step_of(second) != SEQ_ESCAPE &&
                    (first & 255) + (second & 255) <= SEQ_AC_BITS;
        codes->look[i] = both ? join(first, second) : first;
    }
    return true;
}
