/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/png/png.h"

enum { SAMPLE_STEP = 8 }; /* rows of which one is looked at */

/* Words with eight bytes, of which those of alpha count. */
static bool is_full(const uint8_t *row, size_t size, const uint8_t mask[static 8]) {
    uint64_t all = UINT64_MAX, wanted, word;
    size_t i = 0;
    memcpy(&wanted, mask, sizeof(wanted));
    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, row + i, sizeof(word));
        all &= word;
    }
    for (size_t k = 0; i + k < size; k++) {
        if ((row[i + k] & mask[k]) != mask[k]) {
            return false;
        }
    }
    return (all & wanted) == wanted;
}

bool png_rows_are_opaque(const struct image *image) {
    static const uint8_t masks[2][2][8] = {{{0, 255, 0, 255, 0, 255, 0, 255}, {0, 0, 0, 255, 0, 0, 0, 255}},
                                           {{0, 0, 255, 255, 0, 0, 255, 255}, {0, 0, 0, 0, 0, 0, 255, 255}}};
    const struct plane *plane = &image->plane[0];
    if (image->model != PIXEL_GRAY_ALPHA && image->model != PIXEL_RGBA) {
        return false;
    }
    const uint8_t *mask = masks[image->depth == 16][image->model == PIXEL_RGBA];
    bool full = true;
    for (uint32_t y = 0; y < image->height && full; y++) {
        full = is_full(plane_row(plane, y), plane_row_bytes(plane, image->depth), mask);
    }
    return full;
}

enum status png_rows_init(struct png_rows *rows, const struct image *image, bool opaque, struct error *err) {
    const unsigned channels = image->plane[0].channels - opaque, sample = image->depth / 8u;
    const size_t size = (size_t)image->width * channels * sample;
    *rows = (struct png_rows){
        .image = image,
        .line = size + 1,
        .pixel = channels * sample,
        .opaque = opaque,
        .memory = calloc(3, size),
    };
    return rows->memory ? ST_OK : fail(err, ST_BUSY, "out of memory for the rows of a PNG");
}

void png_rows_finish(struct png_rows *rows) {
    free(rows->memory);
    *rows = (struct png_rows){0};
}

/* Without the last of `channels` samples. A pixel of four bytes is moved at once; the byte too many is
 * overwritten, and the last pixel's left to the loop behind. */
static void leave_out(uint8_t *to, const uint8_t *from, size_t pixels, unsigned pixel) {
    size_t i = 0;
    for (; pixel == 3 && i + 1 < pixels; i++) {
        memcpy(to + 3 * i, from + 4 * i, 4);
    }
    const unsigned stored = pixel == 1 ? 2 : pixel == 2 ? 4 : pixel == 3 ? 4 : 8;
    for (; i < pixels; i++) {
        memcpy(to + i * pixel, from + i * stored, pixel);
    }
}

static void swap(uint8_t *to, const uint8_t *from, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint8_t low = from[i];
        to[i] = from[i + 1];
        to[i + 1] = low;
    }
}

static const uint8_t *in_file_order(const struct png_rows *rows, uint32_t y) {
    const uint8_t *row = plane_row(&rows->image->plane[0], y);
    const size_t size = rows->line - 1;
    const bool swaps = rows->image->depth == 16 && png_is_little_endian();
    uint8_t *made = rows->memory + (1 + y % 2) * size;
    if (rows->opaque) {
        leave_out(made, row, rows->image->width, rows->pixel);
        row = made;
    }
    if (swaps) {
        swap(made, row, size);
        row = made;
    }
    return row;
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
