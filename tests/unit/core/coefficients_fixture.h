/* SPDX-License-Identifier: MIT
 * Compares coefficients as core/jpeg/coefficients.h lays them out. */
#ifndef BLURD_TESTS_COEFFICIENTS_FIXTURE_H
#define BLURD_TESTS_COEFFICIENTS_FIXTURE_H

#include <string.h>

#include "core/jpeg/coefficients.h"

/* Whether all blocks that hold samples are the same; padding blocks have no values. */
static inline bool coefficients_are_same(const struct coefficients_layout *layout,
                                         const struct image_shape *shape, const int16_t *a,
                                         const int16_t *b) {
    bool same = true;
    for (unsigned plane = 0; plane < layout->planes; plane++) {
        uint32_t h = plane ? layout->h : 1, v = plane ? layout->v : 1;
        uint32_t width = ((shape->width + h - 1) / h + 7) / 8, height = ((shape->height + v - 1) / v + 7) / 8;
        for (uint32_t y = 0; y < height; y++) {
            const struct coefficients_row row = coefficients_row(layout, plane, y);
            for (uint32_t x = 0; x < width; x++) {
                size_t at = (size_t)coefficients_block(&row, x) * COEFFICIENTS_BLOCK;
                same = same && memcmp(a + at, b + at, COEFFICIENTS_BLOCK * sizeof *a) == 0;
            }
        }
    }
    return same;
}

#endif
