/* SPDX-License-Identifier: MIT
 * The symbols of deflate (RFC 1951, 3.2.5): a byte, the end of a block, or the length of a match. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_SYMBOLS_H
#define BLURD_CODECS_PNG_DEFLATE_SYMBOLS_H

enum {
    DEFLATE_LITERALS = 256,
    DEFLATE_END = 256,     /* of a block */
    DEFLATE_LENGTHS = 257, /* the first symbol of a length */
    DEFLATE_SYMBOLS = 286,
    DEFLATE_MATCH_MIN = 3, /* bytes */
    DEFLATE_MATCH_MAX = 258,
    DEFLATE_DISTANCE_MAX = 32768,
};

/* The symbol of a length, and the extra bits that follow it. There are 29: eight of one length each, then
 * groups of four for lengths in steps of 2, 4, 8, 16 and 32, and one for DEFLATE_MATCH_MAX alone. */
static inline unsigned deflate_length_symbol(unsigned length, unsigned *extra_bits, unsigned *extra) {
    unsigned rest = length - DEFLATE_MATCH_MIN;
    *extra_bits = *extra = 0;
    if (length == DEFLATE_MATCH_MAX) {
        return DEFLATE_SYMBOLS - 1;
    }
    if (rest < 8) {
        return DEFLATE_LENGTHS + rest;
    }
    unsigned bits = 29u - (unsigned)__builtin_clz(rest);
    *extra_bits = bits;
    *extra = rest & ((1u << bits) - 1);
    return DEFLATE_LENGTHS + 4 * bits + (rest >> bits);
}

#endif
