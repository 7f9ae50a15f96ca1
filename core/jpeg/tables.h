/* SPDX-License-Identifier: MIT
 * The tables in a JPEG's segments DQT and DHT. A segment is parsed from a copy, which no other process
 * writes. Thread-safe. */
#ifndef BLURD_CORE_JPEG_TABLES_H
#define BLURD_CORE_JPEG_TABLES_H

#include "core/bytes.h"

enum { JPEG_TABLES_MAX = 4, JPEG_TABLE_COEFFICIENTS = 64, JPEG_TABLE_LENGTHS = 16, JPEG_TABLE_SYMBOLS = 256 };

/* Tables of quantisation, by their number. The steps are in the order of the scan. */
struct jpeg_quantisers {
    uint16_t of[JPEG_TABLES_MAX][JPEG_TABLE_COEFFICIENTS];
    bool exist[JPEG_TABLES_MAX];
};

/* Takes the tables of a DQT segment over. Returns NULL, or why the segment is refused, in a sentence without
 * its end: it is damaged, or has a step of 0. */
const char *jpeg_quantisers_read(struct jpeg_quantisers *quantisers, struct bytes segment);

/* A table of Huffman codes in a DHT segment. */
struct jpeg_code_table {
    uint32_t class, number; /* class 0: DC, 1: AC */
    const uint8_t *counts;  /* of the codes of each length, from 1 bit on: JPEG_TABLE_LENGTHS */
    const uint8_t *symbols; /* in the order of the codes */
    uint32_t count;         /* of the symbols, at most JPEG_TABLE_SYMBOLS */
};

/* Takes the next table off a DHT segment that is not empty. `numbers`: how many numbers tables may have.
 * False for damage, or a number beyond these. */
bool jpeg_code_table_next(struct bytes *segment, uint32_t numbers, struct jpeg_code_table *table);

/* Whether no symbol of a DC table, which is the bits of a difference, is larger. True for AC. */
bool jpeg_code_table_fits(const struct jpeg_code_table *table, uint32_t dc_bits);

/* Numbers the codes of each length, from their counts. 16 bits of input below limit[length] begin with a code
 * of at most so many bits; first[length] is the place of a code's symbol, less the code. False where there is
 * no room for a code, or one is of ones alone: libjpeg refuses these, too. */
bool jpeg_code_table_number(const uint8_t counts[JPEG_TABLE_LENGTHS], uint32_t limit[JPEG_TABLE_LENGTHS + 1],
                            int32_t first[JPEG_TABLE_LENGTHS + 1]);

#endif
