/* SPDX-License-Identifier: MIT
 * Tables to look Huffman codes up in. Most lookups give one or two whole coefficients: distances, values and
 * the number of bits that they take. Rare ones are read in another way. Internal to codecs/jpeg/.
 */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_CODES_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_CODES_H

#include "codecs/jpeg/sequential/jpeg_dec_header.h"

enum {
    JPEG_DEC_QUICK_BITS = 9,
    JPEG_DEC_LOOK_BITS = 10,
    JPEG_DEC_TAKEN_MAX = 18, /* bits that a lookup takes */
    JPEG_DEC_CODE_BITS = 16,
    JPEG_DEC_BLOCK_END = 128, /* added to the position: there are no further coefficients */
    JPEG_DEC_ESCAPE = 64,     /* added to the position: nothing was read */
};

/* All codes of a table. */
struct jpeg_dec_codes {
    uint16_t quick[1 << JPEG_DEC_QUICK_BITS]; /* symbol << 8 | bits; 0: a longer code, or none */
    uint32_t limit[JPEG_DEC_CODE_BITS + 1]; /* 16 bits of input below it begin with a code of so many bits */
    int32_t first[JPEG_DEC_CODE_BITS + 1];  /* index of the symbol of a code, less the code */
    uint8_t symbol[256];
};

/* An entry has eight bytes, the lowest one first:
 *     0     bits of codes and values together
 *     1     what is added to the position
 *     2, 3  distances of two coefficients from the position. The second one is written last: of a single
 *           coefficient both are the same, and those of none are 0
 *     4, 5  value of the first one
 *     6     63, less the bits of the value of the second one
 *     7     bits before them */
struct jpeg_dec_look {
    struct jpeg_dec_codes codes;
    uint64_t entry[1 << JPEG_DEC_LOOK_BITS];
};

/* A table of escapes alone. */
extern const uint64_t jpeg_dec_codes_escapes[1 << JPEG_DEC_LOOK_BITS];

enum jpeg_dec_kind { JPEG_DEC_DC, JPEG_DEC_AC };

/* False when libjpeg refuses the table. */
bool jpeg_dec_codes_make(struct jpeg_dec_codes *codes, const struct jpeg_dec_table *table);

/* The same for a table with lookups, of values of at most `value_max`; larger ones are escapes. */
bool jpeg_dec_codes_make_look(struct jpeg_dec_look *look, const struct jpeg_dec_table *table,
                              enum jpeg_dec_kind kind, int32_t value_max);

/* symbol << 8 | bits of the code at the top of `bits`; 0 when there is none. */
static inline uint32_t jpeg_dec_codes_find(const struct jpeg_dec_codes *codes, uint64_t bits) {
    uint32_t entry = codes->quick[bits >> (64 - JPEG_DEC_QUICK_BITS)];
    uint32_t peek = (uint32_t)(bits >> (64 - JPEG_DEC_CODE_BITS));
    for (uint32_t length = JPEG_DEC_QUICK_BITS + 1; entry == 0 && length <= JPEG_DEC_CODE_BITS; length++) {
        if (peek < codes->limit[length]) {
            int32_t code = (int32_t)(peek >> (JPEG_DEC_CODE_BITS - length));
            entry = (uint32_t)codes->symbol[codes->first[length] + code] << 8 | length;
        }
    }
    return entry;
}

/* The value of the upper bits of a word: 63 - shift % 64 of them, at most 15. Values of n bits that begin
 * with a zero are negative: 2^n - 1 is subtracted. No bits are 0. */
static inline int32_t jpeg_dec_codes_value(uint64_t word, uint64_t shift) {
    uint64_t with_sign = (uint64_t)((int64_t)word >> 1) ^ (uint64_t)1 << 63;
    return (int32_t)(((int64_t)with_sign >> (shift & 63)) + (int64_t)(with_sign >> 63));
}

#endif
