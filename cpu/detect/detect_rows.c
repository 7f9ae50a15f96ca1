/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_rows.h"

#include <string.h>

#include "core/bytes.h"
#include "core/image.h"

struct detect_columns detect_rows_read(struct detect_columns made, unsigned stride, uint32_t width) {
    uint32_t from = made.from * stride, to = (made.to - 1) * stride + 2;
    return (struct detect_columns){from > 0 ? from - 1 : 0, to < width ? to : width};
}

/* Columns of a row, with both that may lie outside. */
static size_t columns_of(uint32_t columns, unsigned stride) {
    return (size_t)(columns - 1) * stride + 3;
}

static size_t row_bytes(uint32_t columns, unsigned stride, size_t pixel) {
    return bytes_align_up(columns_of(columns, stride) * pixel + DETECT_SLACK, IMAGE_ALIGNMENT);
}

size_t detect_rows_bytes(uint32_t columns, unsigned stride, size_t pixel) {
    return (DETECT_ROWS + 1) * row_bytes(columns, stride, pixel);
}

void detect_rows_place(struct detect_ring *ring, size_t pixel, uint32_t columns, uint8_t *memory) {
    size_t bytes = row_bytes(columns, ring->stride, pixel);
    ring->pixel = pixel;
    ring->outside = memory;
    for (unsigned i = 0; i < DETECT_ROWS; i++) {
        ring->row[i] = memory + (i + 1) * bytes;
    }
}

void detect_rows_begin(struct detect_ring *ring, struct detect_columns made) {
    ring->made = made;
    ring->read = detect_rows_read(made, ring->stride, ring->width);
    size_t columns = columns_of(made.to - made.from, ring->stride);
    size_t left = made.from == 0 ? 1 : 0, inside = ring->read.to - ring->read.from;
    memset(ring->outside, 0, columns * ring->pixel + DETECT_SLACK);
    for (unsigned i = 0; i < DETECT_ROWS; i++) {
        ring->holds[i] = -1;
        memset(ring->row[i], 0, left * ring->pixel);
        memset(ring->row[i] + (left + inside) * ring->pixel, 0,
               (columns - left - inside) * ring->pixel + DETECT_SLACK);
    }
}

void detect_rows_window(struct detect_ring *ring, uint32_t y, detect_rows_make *make, void *context,
                        const uint8_t *window[DETECT_ROWS]) {
    const size_t left = ring->made.from == 0 ? ring->pixel : 0;
    for (unsigned i = 0; i < DETECT_ROWS; i++) {
        const int64_t row = (int64_t)y * ring->stride + i - 1;
        if (row < 0 || row >= ring->height) {
            window[i] = ring->outside;
            continue;
        }
        const unsigned place = (unsigned)(row % DETECT_ROWS);
        if (ring->holds[place] != row) {
            make(context, (uint32_t)row, ring->row[place] + left);
            ring->holds[place] = row;
        }
        window[i] = ring->row[place];
    }
}
