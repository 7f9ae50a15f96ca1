/* SPDX-License-Identifier: MIT
 * Huffman codes for deflate: canonical, length-limited, bits reversed. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_HUFFMAN_H
#define BLURD_CODECS_PNG_DEFLATE_HUFFMAN_H

#include <stdint.h>

enum { HUFFMAN_SYMBOLS_MAX = 288, HUFFMAN_LENGTH_MAX = 15 };

struct huffman_code {
    uint16_t bits; /* first bit lowest */
    uint16_t length;
};

/* Assigns each of `symbols` (2 to HUFFMAN_SYMBOLS_MAX) with a count above 0 a code of at most `limit`
 * bits, and all others the length 0. Codes are optimal for the counts (below 2^22 each), or nearly so
 * where the limit interferes. At least two counts must be above 0, and at most 2^limit. */
void huffman_make(const uint32_t *counts, unsigned symbols, unsigned limit, struct huffman_code *codes);

#endif
