/* SPDX-License-Identifier: MIT
 * The bits of entropy-coded data, taken from a word that is filled anew in time. Nothing is checked when they
 * are taken: who takes bits knows how many there are at least, and states it by a static assertion. Internal
 * to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_BITS_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_BITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "codecs/jpeg/sequential/jpeg_dec_codes.h"

enum {
    JPEG_DEC_BITS_LOADED = 56, /* bits that there are at least after a load */
    JPEG_DEC_BITS_VALUE = 15,  /* the most bits of a value */
};

/* Bits that were loaded: the upper `count` ones of `word`. Those below are either 0 or the next ones. */
struct jpeg_dec_bits {
    uint64_t word;
    const uint8_t *at; /* behind the last whole byte of them, in the window */
    unsigned count;
};

#define BITS_INLINE static inline __attribute__((always_inline))

/* Counts the bits behind those of the word as loaded, and returns them at their place in it. */
BITS_INLINE uint64_t jpeg_dec_bits_next(struct jpeg_dec_bits *bits) {
    uint64_t word;
    memcpy(&word, bits->at, sizeof word);
    word = be64toh(word) >> bits->count;
    bits->at += (63 - bits->count) >> 3;
    bits->count |= JPEG_DEC_BITS_LOADED;
    return word;
}

BITS_INLINE void jpeg_dec_bits_load(struct jpeg_dec_bits *bits) {
    bits->word |= jpeg_dec_bits_next(bits);
}

BITS_INLINE void jpeg_dec_bits_drop(struct jpeg_dec_bits *bits, unsigned count) {
    bits->word <<= count;
    bits->count -= count;
}

/* 0 to 63 bits, without a sign. */
BITS_INLINE uint64_t jpeg_dec_bits_take(struct jpeg_dec_bits *bits, unsigned count) {
    uint64_t number = bits->word >> 1 >> (63 - count);
    jpeg_dec_bits_drop(bits, count);
    return number;
}

/* A value of 0 to JPEG_DEC_BITS_VALUE bits. */
BITS_INLINE int32_t jpeg_dec_bits_value(struct jpeg_dec_bits *bits, unsigned size) {
    int32_t value = jpeg_dec_codes_value(bits->word, 63 - size);
    jpeg_dec_bits_drop(bits, size);
    return value;
}

#undef BITS_INLINE

#endif
