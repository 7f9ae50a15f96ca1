/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_ways.h"

#include "core/numbers.h"

enum {
    BANDS = 3,      /* spread over the height */
    BAND_ROWS = 24, /* most rows of a band */
};

void png_way_filter(const struct png_rows *rows, uint32_t y, uint32_t count, unsigned way, uint8_t *to) {
    if (way == PNG_WAY_BEST_OF_EACH) {
        png_rows_filter_best(rows, y, count, to);
    } else {
        png_rows_filter(rows, y, count, (enum png_filter)way, to);
    }
}

uint32_t png_way_sample(const struct png_rows *rows, unsigned way, uint32_t most, uint8_t *to) {
    const uint32_t height = rows->image->height, bands = min_u32(BANDS, min_u32(most, height));
    const uint32_t step = height / bands, count = min_u32(min_u32(step, BAND_ROWS), most / bands);
    for (uint32_t band = 0; band < bands; band++) {
        png_way_filter(rows, band * step, count, way, to + (size_t)band * count * rows->line);
    }
    return bands * count;
}
