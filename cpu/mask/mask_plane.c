/* SPDX-License-Identifier: MIT */
#include "cpu/mask/mask_plane.h"

#include <stdbool.h>
#include <string.h>

static uint32_t least(uint64_t a, uint32_t b) {
    return a < b ? (uint32_t)a : b;
}

/* Whether all pixels of the rectangle are equal, as nearly everywhere in a mask. */
static bool constant(const struct image *mask, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    uint8_t value = plane_row(&mask->plane[0], y0)[x0];
    for (uint32_t y = y0; y < y1; y++) {
        const uint8_t *row = plane_row(&mask->plane[0], y) + x0;
        if (row[0] != value || memcmp(row, row + 1, x1 - x0 - 1) != 0) {
            return false;
        }
    }
    return true;
}

const uint8_t *mask_samples(const struct image *mask, const struct plane *plane, uint32_t y, uint32_t x,
                            uint32_t count, enum mask_merge merge, uint8_t buffer[MASK_CHUNK]) {
    if (plane->shift_x == 0 && plane->shift_y == 0) {
        return plane_row(&mask->plane[0], y) + x;
    }
    uint32_t first = x << plane->shift_x, last = least(((uint64_t)x + count) << plane->shift_x, mask->width);
    uint32_t top = y << plane->shift_y, bottom = least(((uint64_t)y + 1) << plane->shift_y, mask->height);
    if (constant(mask, first, last, top, bottom)) {
        uint8_t value = plane_row(&mask->plane[0], top)[first];
        return memset(buffer, merge == MASK_ANY && value ? 255 : value, count);
    }
    uint32_t sum[MASK_CHUNK];
    memset(sum, 0, count * sizeof sum[0]);
    for (uint32_t row = top; row < bottom; row++) {
        const uint8_t *pixels = plane_row(&mask->plane[0], row);
        for (uint32_t i = first; i < last; i++) {
            sum[(i - first) >> plane->shift_x] += pixels[i];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = (x + i) << plane->shift_x;
        uint32_t right = least(((uint64_t)x + i + 1) << plane->shift_x, mask->width);
        uint32_t n = (right - left) * (bottom - top);
        uint32_t any = sum[i] ? 255 : 0;
        buffer[i] = (uint8_t)(merge == MASK_MEAN ? (sum[i] + n / 2) / n : any);
    }
    return buffer;
}
