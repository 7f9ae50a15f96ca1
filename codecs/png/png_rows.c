/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/png/png.h"

enum { SAMPLE_STEP = 8 }; /* rows of which one is looked at */

enum status png_rows_init(struct png_rows *rows, const struct image *image, struct error *err) {
    size_t size = plane_row_bytes(&image->plane[0], image->depth);
    *rows = (struct png_rows){
        .image = image,
        .line = size + 1,
        .pixel = image->plane[0].channels * (image->depth / 8u),
        .memory = calloc(3, size),
    };
    return rows->memory ? ST_OK : fail(err, ST_BUSY, "out of memory for the rows of a PNG");
}

void png_rows_finish(struct png_rows *rows) {
    free(rows->memory);
    *rows = (struct png_rows){0};
}

static const uint8_t *in_file_order(const struct png_rows *rows, uint32_t y) {
    const uint8_t *row = plane_row(&rows->image->plane[0], y);
    if (rows->image->depth == 8 || !png_is_little_endian()) {
        return row;
    }
    uint8_t *swapped = rows->memory + (1 + y % 2) * (rows->line - 1);
    for (size_t i = 0; i + 1 < rows->line; i += 2) {
        swapped[i] = row[i + 1];
        swapped[i + 1] = row[i];
    }
    return swapped;
}

static struct png_row row_at(const struct png_rows *rows, uint32_t y, uint8_t *to) {
    return (struct png_row){
        .to = to,
        .from = in_file_order(rows, y),
        .above = y > 0 ? in_file_order(rows, y - 1) : rows->memory,
        .size = rows->line - 1,
        .pixel = rows->pixel,
    };
}

void png_rows_filter(const struct png_rows *rows, uint32_t y, uint32_t count, enum png_filter filter,
                     uint8_t *to) {
    for (uint32_t i = 0; i < count; i++, to += rows->line) {
        struct png_row row = row_at(rows, y + i, to + 1);
        to[0] = (uint8_t)filter;
        png_filter(filter, &row);
    }
}

void png_rows_filter_best(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *to) {
    for (uint32_t i = 0; i < count; i++, to += rows->line) {
        struct png_row row = row_at(rows, y + i, to + 1);
        uint64_t least = UINT64_MAX;
        for (unsigned filter = FILTER_NONE; filter < FILTER_COUNT; filter++) {
            png_filter(filter, &row);
            uint64_t sum = png_filter_sum(row.to, row.size);
            if (sum < least) {
                least = sum;
                to[0] = (uint8_t)filter;
            }
        }
        if (to[0] != FILTER_COUNT - 1) {
            png_filter(to[0], &row);
        }
    }
}

enum png_filter png_rows_choose(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *scratch) {
    uint64_t sums[FILTER_COUNT] = {0};
    for (uint32_t i = count < SAMPLE_STEP ? count - 1 : SAMPLE_STEP / 2; i < count; i += SAMPLE_STEP) {
        struct png_row row = row_at(rows, y + i, scratch);
        for (unsigned filter = FILTER_SUB; filter < FILTER_COUNT; filter++) {
            png_filter(filter, &row);
            sums[filter] += png_filter_sum(row.to, row.size);
        }
    }
    enum png_filter best = FILTER_PAETH;
    for (unsigned filter = FILTER_SUB; filter < FILTER_COUNT; filter++) {
        best = sums[filter] < sums[best] ? (enum png_filter)filter : best;
    }
    return best;
}

uint64_t png_rows_distance(const struct png_rows *rows, uint32_t y, uint8_t *scratch) {
    const struct png_row row = row_at(rows, y, scratch);
    uint64_t distance = 0;
    png_filter(FILTER_PAETH, &row);
    for (size_t i = 0; i < row.size; i++) {
        const uint8_t predicted = (uint8_t)(row.from[i] - row.to[i]);
        distance += row.from[i] > predicted ? row.from[i] - predicted : predicted - row.from[i];
    }
    return distance;
}
