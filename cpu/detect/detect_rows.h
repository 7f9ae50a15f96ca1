/* SPDX-License-Identifier: MIT
 * Rows of layers that are made when they are read, and kept while they may be read again. A *tile* is a range
 * of columns, so that the rows of wide pictures fit into the cache of a core, too. */
#ifndef BLURD_CPU_DETECT_DETECT_ROWS_H
#define BLURD_CPU_DETECT_DETECT_ROWS_H

#include <stdint.h>

#include "cpu/detect/detect_kernels.h"

/* Columns from to to - 1. */
struct detect_columns {
    uint32_t from, to;
};

/* The rows of pixels of which windows make the columns `made`. Columns and rows outside are `zero`. */
struct detect_ring {
    uint8_t *row[NETWORK_WINDOW_MAX]; /* the first pixel is the leftmost of the first window */
    uint8_t *outside;
    int64_t holds[NETWORK_WINDOW_MAX]; /* rows; -1: none */
    uint32_t width, height;            /* of the layer */
    size_t pixel;                      /* bytes */
    unsigned stride, size;             /* of the windows; sides, odd */
    uint8_t zero;
    struct detect_columns made, read; /* of the result, of the layer */
};

/* How many columns windows of this size read for so many columns of the result. */
size_t detect_rows_columns(const struct detect_ring *ring, uint32_t columns);

/* Bytes of memory for windows that make so many columns. The ring's sizes are set. */
size_t detect_rows_bytes(const struct detect_ring *ring, uint32_t columns);

/* Lays the ring over memory. */
void detect_rows_place(struct detect_ring *ring, uint32_t columns, uint8_t *memory);

/* Begins with other columns. The ring is placed. */
void detect_rows_begin(struct detect_ring *ring, struct detect_columns made);

/* Makes a row: the columns ring->read. */
typedef void detect_rows_make(void *context, uint32_t y, uint8_t *to);

/* Finds the input rows of the window of output row y. `make` produces the rows that the ring does not hold.
 */
void detect_rows_window(struct detect_ring *ring, uint32_t y, detect_rows_make *make, void *context,
                        const uint8_t *window[NETWORK_WINDOW_MAX]);

#endif
