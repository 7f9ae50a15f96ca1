/* SPDX-License-Identifier: MIT */
#include "cpu/extended.h"

#include <string.h>

/* Returns the number of pixels from position x on, at most `pixels`, that lie in the picture. */
static size_t inside(const struct extended *extended, ptrdiff_t x, size_t pixels) {
    ptrdiff_t width = (ptrdiff_t)extended->plane->width;
    if (x < 0 || x >= width) {
        return 0;
    }
    return pixels < (size_t)(width - x) ? pixels : (size_t)(width - x);
}

const void *extended_row(const struct extended *extended, ptrdiff_t y, ptrdiff_t x, size_t pixels,
                         uint8_t *spare) {
    const struct plane *plane = extended->plane;
    const size_t pixel = plane->channels * (extended->depth / 8);
    ptrdiff_t at = edge_source(extended->edge, (ptrdiff_t)plane->height, y);
    if (at == OUTSIDE) {
        memset(spare, extended->border, pixels * pixel);
        return spare;
    }
    const uint8_t *row = plane_row(plane, (uint32_t)at);
    if (inside(extended, x, pixels) == pixels) {
        return row + (size_t)x * pixel;
    }
    for (size_t i = 0, count; i < pixels; i += count) {
        ptrdiff_t from = x + (ptrdiff_t)i;
        count = inside(extended, from, pixels - i);
        ptrdiff_t one = count ? from : edge_source(extended->edge, (ptrdiff_t)plane->width, from);
        count = count ? count : 1;
        if (one == OUTSIDE) {
            memset(spare + i * pixel, extended->border, pixel);
        } else {
            memcpy(spare + i * pixel, row + (size_t)one * pixel, count * pixel);
        }
    }
    return spare;
}
