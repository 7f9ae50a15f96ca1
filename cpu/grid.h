/* SPDX-License-Identifier: MIT
 * A rectangle of values between two passes: rows of one or several segments. Interleaved rows have one
 * segment and `step` values a pixel; planar rows have a segment per channel and step 1. */
#ifndef BLURD_CPU_GRID_H
#define BLURD_CPU_GRID_H

#include <stdint.h>

#include "core/bytes.h"
#include "core/image.h"
#include "cpu/rows/rows.h"
#include "filters/blur/extent.h"

struct grid {
    uint8_t *first; /* value at (x.lo, y.lo); NULL until placed */
    struct span x;
    struct span y;
    size_t value; /* bytes of one */
    unsigned segments;
    unsigned step;
    size_t segment; /* values from one segment to the next */
    size_t stride;  /* bytes from one row to the next */
};

/* Lays out rows over `x`; the memory comes with grid_place. */
static inline struct grid grid_make(struct span x, struct span y, size_t value, unsigned segments,
                                    unsigned step) {
    size_t segment = bytes_align_up(span_length(x) * step, IMAGE_ALIGNMENT / sizeof(int16_t));
    return (struct grid){.x = x,
                         .y = y,
                         .value = value,
                         .segments = segments,
                         .step = step,
                         .segment = segment,
                         .stride = segments * segment * value};
}

/* Takes the grid's memory at *offset of `memory` (NULL: only counts) and advances *offset. Row functions read
 * a little before a row, and read and write ROW_SLACK behind it. Rows are written in ascending order, so one
 * slack at the end is enough. */
static inline void grid_place(struct grid *grid, uint8_t *memory, size_t *offset) {
    *offset += IMAGE_ALIGNMENT;
    grid->first = memory ? memory + *offset : NULL;
    *offset += bytes_align_up(span_length(grid->y) * grid->stride + ROW_SLACK * grid->value, IMAGE_ALIGNMENT);
}

static inline void *grid_at(const struct grid *grid, ptrdiff_t y, unsigned segment, ptrdiff_t x) {
    size_t values = segment * grid->segment + (size_t)(x - grid->x.lo) * grid->step;
    return grid->first + (size_t)(y - grid->y.lo) * grid->stride + values * grid->value;
}

#endif
