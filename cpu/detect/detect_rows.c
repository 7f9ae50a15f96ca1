/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_rows.h"

#include <string.h>

#include "core/bytes.h"
#include "core/image.h"

size_t detect_rows_columns(const struct detect_ring *ring, uint32_t columns) {
    return (size_t)(columns - 1) * ring->stride + ring->size;
}

static size_t row_bytes(const struct detect_ring *ring, uint32_t columns) {
    return bytes_align_up(detect_rows_columns(ring, columns) * ring->pixel + DETECT_SLACK, IMAGE_ALIGNMENT);
}

size_t detect_rows_bytes(const struct detect_ring *ring, uint32_t columns) {
    return (ring->size + 1) * row_bytes(ring, columns);
}

void detect_rows_place(struct detect_ring *ring, uint32_t columns, uint8_t *memory) {
    const size_t bytes = row_bytes(ring, columns);
    ring->outside = memory;
    for (unsigned i = 0; i < ring->size; i++) {
        ring->row[i] = memory + (i + 1) * bytes;
    }
}

/* How many columns of the first window lie left of the layer. */
static uint32_t columns_left(const struct detect_ring *ring) {
    const uint32_t centre = ring->made.from * ring->stride, radius = ring->size / 2;
    return centre < radius ? radius - centre : 0;
}

void detect_rows_begin(struct detect_ring *ring, struct detect_columns made) {
    const uint32_t radius = ring->size / 2, end = (made.to - 1) * ring->stride + radius + 1;
    ring->made = made;
    const size_t left = columns_left(ring), columns = detect_rows_columns(ring, made.to - made.from);
    ring->read.from = made.from * ring->stride + (uint32_t)left - radius;
    ring->read.to = end < ring->width ? end : ring->width;
    const size_t inside = ring->read.to - ring->read.from;
    memset(ring->outside, ring->zero, columns * ring->pixel + DETECT_SLACK);
    for (unsigned i = 0; i < ring->size; i++) {
        ring->holds[i] = -1;
        memset(ring->row[i], ring->zero, left * ring->pixel);
        memset(ring->row[i] + (left + inside) * ring->pixel, ring->zero,
               (columns - left - inside) * ring->pixel + DETECT_SLACK);
    }
}

void detect_rows_window(struct detect_ring *ring, uint32_t y, detect_rows_make *make, void *context,
                        const uint8_t *window[NETWORK_WINDOW_MAX]) {
    const size_t left = columns_left(ring) * ring->pixel;
    for (unsigned i = 0; i < ring->size; i++) {
        const int64_t row = (int64_t)y * ring->stride + i - ring->size / 2;
        if (row < 0 || row >= ring->height) {
            window[i] = ring->outside;
            continue;
        }
        const unsigned place = (unsigned)(row % ring->size);
        if (ring->holds[place] != row) {
            make(context, (uint32_t)row, ring->row[place] + left);
            ring->holds[place] = row;
        }
        window[i] = ring->row[place];
    }
}
