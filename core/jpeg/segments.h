/* SPDX-License-Identifier: MIT
 * The segments of a baseline JPEG between its metadata and its scan, as libjpeg writes them, and the numbers
 * in them. Shared by the encoders of the CPU and of the GPU, whose files are the same. Thread-safe. */
#ifndef BLURD_CORE_JPEG_SEGMENTS_H
#define BLURD_CORE_JPEG_SEGMENTS_H

#include "core/image.h"
#include "core/jpeg/huffman.h"

enum {
    JPEG_SIDE = 8, /* of a block of samples */
    JPEG_COEFFICIENTS = 64,
    JPEG_QUANTISERS = 2,        /* for luma and chroma */
    JPEG_FILE_SIDE_MAX = 65500, /* libjpeg's own limit; the format's is 65535 */
    JPEG_MCU_BLOCKS_MAX = 10,
    /* Bytes at most that the functions below write. */
    JPEG_WRITE_FILE = 20,
    JPEG_WRITE_FRAME = 2 * 69 + 19,
    JPEG_WRITE_CODES = 21 + JPEG_SYMBOLS,
    JPEG_WRITE_SCAN = 14,
};

/* jpeg_zigzag[k] is the place in a block, row by row, of coefficient k of the scan's order.
 * jpeg_zigzag_places makes the inverse: the place in the scan's order of each coefficient of a block. */
extern const uint8_t jpeg_zigzag[JPEG_COEFFICIENTS];
void jpeg_zigzag_places(uint8_t place[JPEG_COEFFICIENTS]);

/* The steps of quantisation, row by row. `quality`: 1 to 100; `table`: 0 for luma, 1 for chroma. */
void jpeg_quantiser_make(uint8_t quality, unsigned table, uint16_t steps[JPEG_COEFFICIENTS]);

/* Each writes at `to` and returns the end.
 *
 * file    start marker and JFIF header; x and y are a density with its unit
 * frame   quantisers of the given steps and frame header of a grey or planar YCbCr picture
 * codes   one Huffman table
 * scan    header of the only scan */
uint8_t *jpeg_write_file(uint8_t *to, uint8_t unit, uint16_t x, uint16_t y);
uint8_t *jpeg_write_frame(uint8_t *to, const struct image *image,
                          const uint16_t (*quantiser)[JPEG_COEFFICIENTS]);
uint8_t *jpeg_write_codes(uint8_t *to, const struct jpeg_huffman *codes);
uint8_t *jpeg_write_scan(uint8_t *to, const struct image *image);

#endif
