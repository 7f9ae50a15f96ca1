/* SPDX-License-Identifier: MIT
 * Huffman codes as deflate wants them: canonical, of limited length, bits reversed. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_HUFFMAN_H
#define BLURD_CODECS_JPEG_HUFFMAN_H

#include <stdint.h>

enum { HUFFMAN_SYMBOLS_MAX = 288, HUFFMAN_LENGTH_MAX = 15 };

struct huffman_code {
    uint16_t bits; /* the first one lowest */
    uint16_t length;
};

/* Gives each of `symbols` (2 to HUFFMAN_SYMBOLS_MAX) with a count above 0 a code of at most `limit` bits, and
 * the others the length 0. Codes are as short as the counts (below 2^22 each) allow, or nearly so where the
 * limit interferes. At least two counts must be above 0, and no more than 2^limit. */
void huffman_make(const uint32_t *counts, unsigned symbols, unsigned limit, struct huffman_code *codes);

#endif
