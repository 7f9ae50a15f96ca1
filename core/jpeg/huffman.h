/* SPDX-License-Identifier: MIT
 * Huffman tables of baseline JPEGs: the tables of the standard, and optimal tables for the symbol counts of a
 * picture. The encoders of the CPU and of the GPU share them, so that their files are equal. Thread-safe. */
#ifndef BLURD_CORE_JPEG_HUFFMAN_H
#define BLURD_CORE_JPEG_HUFFMAN_H

#include <stdint.h>

enum {
    JPEG_CODE_LENGTHS = 16,
    JPEG_SYMBOLS = 256,
    JPEG_CODE_TABLES = 4, /* DC and AC of luma, DC and AC of chroma: the order of a file */
};

/* A table as a DHT segment has it. */
struct jpeg_huffman {
    uint8_t id;                       /* 0x10 for AC, plus 0 for luma and 1 for chroma */
    uint8_t count[JPEG_CODE_LENGTHS]; /* of codes of 1 to 16 bits */
    uint8_t value[JPEG_SYMBOLS];      /* their symbols, by length */
};

/* Symbols of the table: the sum of its counts. */
uint32_t jpeg_huffman_size(const struct jpeg_huffman *codes);

/* The standard's table, ISO 10918-1, K.3 to K.6. `table`: 0 to 3. */
const struct jpeg_huffman *jpeg_huffman_standard(unsigned table);

/* Fills in the table that takes the fewest bits for symbols of the given frequencies, within what codes of up
 * to 16 bits can do. It is libjpeg's, to the byte (jpeg_gen_optimal_table), and exists for all frequencies,
 * also for those at which libjpeg gives up because an unlimited code would have more than 32 bits. The sum of
 * the frequencies is less than 2^63; at least one is not 0. */
void jpeg_huffman_optimal(unsigned table, const uint64_t frequency[JPEG_SYMBOLS], struct jpeg_huffman *codes);

/* Fills in length << JPEG_CODE_LENGTHS | code for the first `size` symbols; 0 where there is no code. */
void jpeg_huffman_number(const struct jpeg_huffman *codes, uint32_t *code, uint32_t size);

#endif
