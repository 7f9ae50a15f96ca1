/* SPDX-License-Identifier: MIT */
#include "cpu/window.h"

#include <string.h>

#include "core/numbers.h"

enum { COLUMNS = IMAGE_ALIGNMENT }; /* that are looked at together: windows begin at multiples of that */

/* Whether no pixel of the rectangle is covered. */
static bool is_clear(const struct image *mask, uint32_t x, uint32_t columns, uint32_t y, uint32_t rows) {
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *row = plane_row(&mask->plane[0], y + i) + x;
        if (row[0] != 0 || memcmp(row, row + 1, columns - 1) != 0) {
            return false;
        }
    }
    return true;
}

/* A rectangle around the pixels that are not 0; empty if there are none. */
static struct crop_plan covered_part(const struct image *mask) {
    const uint32_t width = mask->width;
    uint32_t top = 0, bottom = mask->height, left = 0, right = width;
    while (top < bottom && is_clear(mask, 0, width, top, 1)) {
        top++;
    }
    if (top == bottom) {
        return (struct crop_plan){0};
    }
    while (is_clear(mask, 0, width, bottom - 1, 1)) {
        bottom--;
    }
    while (is_clear(mask, left, min_u32(COLUMNS, width - left), top, bottom - top)) {
        left += COLUMNS;
    }
    for (uint32_t last = (width - 1) / COLUMNS * COLUMNS;
         is_clear(mask, last, right - last, top, bottom - top); last -= COLUMNS) {
        right = last;
    }
    return (struct crop_plan){left, top, right - left, bottom - top};
}

struct crop_plan window_under(const struct chain *chain, const struct image *source,
                              const struct image *mask) {
    const struct crop_plan covered = covered_part(mask);
    const struct image_shape shape = image_shape(source);
    return covered.height > 0 ? window_of(chain, &shape, &covered) : covered;
}
