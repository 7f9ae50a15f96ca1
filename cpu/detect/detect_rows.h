/* SPDX-License-Identifier: MIT
 * Rows of layers that are made when they are read, and kept while they may be read again. A *tile* is a range
 * of columns, so that the rows of wide pictures fit into the cache of a core, too. */
#ifndef BLURD_CPU_DETECT_DETECT_ROWS_H
#define BLURD_CPU_DETECT_DETECT_ROWS_H

#include <stdint.h>

#include "cpu/detect/detect_kernels.h"

enum { DETECT_ROWS = 3 }; /* that a window of 3x3 reads */

/* Columns from to to - 1. */
struct detect_columns {
    uint32_t from, to;
};

/* The columns that windows of 3x3 read for these, within a row of `width`, without those outside. */
struct detect_columns detect_rows_read(struct detect_columns made, unsigned stride, uint32_t width);

/* Three rows of pixels, of which windows of 3x3 make the columns `made`. Columns and rows outside are 0. */
struct detect_ring {
    uint8_t *row[DETECT_ROWS]; /* the first pixel is that left of the first window's centre */
    uint8_t *outside;
    int64_t holds[DETECT_ROWS]; /* rows; -1: none */
    uint32_t width, height;     /* of the layer */
    size_t pixel;               /* bytes */
    unsigned stride;
    struct detect_columns made, read; /* of the result, of the layer */
};

/* Bytes of memory for windows that make so many columns of so many bytes a pixel. */
size_t detect_rows_bytes(uint32_t columns, unsigned stride, size_t pixel);

/* Lays the ring over memory. The size of the layer and the stride are set. */
void detect_rows_place(struct detect_ring *ring, size_t pixel, uint32_t columns, uint8_t *memory);

/* Begins with other columns. The ring is placed. */
void detect_rows_begin(struct detect_ring *ring, struct detect_columns made);

/* Makes a row: the columns ring->read. */
typedef void detect_rows_make(void *context, uint32_t y, uint8_t *to);

/* Finds the input rows of the window of output row y. `make` produces the rows that the ring does not hold.
 */
void detect_rows_window(struct detect_ring *ring, uint32_t y, detect_rows_make *make, void *context,
                        const uint8_t *window[DETECT_ROWS]);

#endif
