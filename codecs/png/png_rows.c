/* SPDX-License-Identifier: MIT */
#include "codecs/png/png_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/png/png.h"

enum {
    SAMPLE_STEP = 8, /* rows of which one is looked at */
    ROWS = 3,        /* that are kept */
};

struct png_made {
    uint64_t number[2]; /* of the rows that are kept, plus one; 0: none */
    uint8_t bytes[];    /* a row of zeros, one with an even number, one with an odd one */
};

enum status png_rows_init(struct png_rows *rows, const struct image *image, const struct png_form *form,
                          struct error *err) {
    const size_t size = png_form_row_bytes(form, image->width);
    *rows = (struct png_rows){
        .image = image,
        .form = form,
        .line = size + 1,
        .pixel = png_form_pixel_bytes(form),
        .made = calloc(1, sizeof(*rows->made) + ROWS * size),
    };
    return rows->made ? ST_OK : fail(err, ST_BUSY, "out of memory for the rows of a PNG");
}

void png_rows_finish(struct png_rows *rows) {
    free(rows->made);
    *rows = (struct png_rows){0};
}

static void swap(uint8_t *to, const uint8_t *from, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2) {
        const uint8_t low = from[i];
        to[i] = from[i + 1];
        to[i + 1] = low;
    }
}

static bool swaps(const struct png_rows *rows) {
    return rows->image->depth == 16 && png_is_little_endian();
}

/* Copies a row in file order. */
static void make_row(const struct png_rows *rows, uint32_t y, uint8_t *to) {
    const uint8_t *row = plane_row(&rows->image->plane[0], y);
    const size_t size = rows->line - 1;
    if (!png_form_is_stored(rows->form, rows->image)) {
        png_form_row(rows->form, rows->image, y, to);
        row = to;
    }
    if (swaps(rows)) {
        swap(to, row, size);
    } else if (row != to) {
        memcpy(to, row, size);
    }
}

/* A row in file order, which is kept with the one before it. */
static const uint8_t *in_file_order(const struct png_rows *rows, uint32_t y) {
    uint8_t *to = rows->made->bytes + (1 + y % 2) * (rows->line - 1);
    if (png_form_is_stored(rows->form, rows->image) && !swaps(rows)) {
        return plane_row(&rows->image->plane[0], y);
    }
    if (rows->made->number[y % 2] != (uint64_t)y + 1) {
        make_row(rows, y, to);
        rows->made->number[y % 2] = (uint64_t)y + 1;
    }
    return to;
}

static struct png_row row_at(const struct png_rows *rows, uint32_t y, uint8_t *to) {
    return (struct png_row){
        .to = to,
        .from = in_file_order(rows, y),
        .above = y > 0 ? in_file_order(rows, y - 1) : rows->made->bytes,
        .size = rows->line - 1,
        .pixel = rows->pixel,
    };
}

void png_rows_filter(const struct png_rows *rows, uint32_t y, uint32_t count, enum png_filter filter,
                     uint8_t *to) {
    for (uint32_t i = 0; i < count; i++, to += rows->line) {
        to[0] = (uint8_t)filter;
        if (filter == FILTER_NONE) {
            make_row(rows, y + i, to + 1);
        } else {
            struct png_row row = row_at(rows, y + i, to + 1);
            png_filter(filter, &row);
        }
    }
}

/* The filter with the least sum, the first of several. A row as the one above leaves zeros. */
static enum png_filter filter_best(const struct png_row *row) {
    uint64_t least = UINT64_MAX;
    enum png_filter best = FILTER_NONE;
    if (memcmp(row->from, row->above, row->size) == 0) {
        memset(row->to, 0, row->size);
        return memcmp(row->from, row->to, row->size) == 0 ? FILTER_NONE : FILTER_UP;
    }
    for (unsigned filter = FILTER_NONE; filter < FILTER_COUNT; filter++) {
        png_filter(filter, row);
        uint64_t sum = png_filter_sum(row->to, row->size);
        if (sum < least) {
            least = sum;
            best = (enum png_filter)filter;
        }
    }
    if (best != FILTER_COUNT - 1) {
        png_filter(best, row);
    }
    return best;
}

void png_rows_filter_best(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *to) {
    for (uint32_t i = 0; i < count; i++, to += rows->line) {
        struct png_row row = row_at(rows, y + i, to + 1);
        to[0] = (uint8_t)filter_best(&row);
    }
}

static uint32_t first_sampled(uint32_t count) {
    return count < SAMPLE_STEP ? count - 1 : SAMPLE_STEP / 2;
}

/* How unlike chance the bytes are: the sum of the squares of their counts. */
static uint64_t likeness(const uint32_t counts[static 256]) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < 256; i++) {
        sum += (uint64_t)counts[i] * counts[i];
    }
    return sum;
}

/* Of codes the differences say little: what counts is how often the same one occurs. */
static enum png_filter choose_of_codes(const struct png_rows *rows, uint32_t y, uint32_t count,
                                       uint8_t *scratch) {
    uint32_t counts[FILTER_COUNT][256] = {0};
    uint64_t most = 0;
    enum png_filter best = FILTER_NONE;
    for (uint32_t i = first_sampled(count); i < count; i += SAMPLE_STEP) {
        struct png_row row = row_at(rows, y + i, scratch);
        for (unsigned filter = FILTER_NONE; filter < FILTER_COUNT; filter++) {
            png_filter(filter, &row);
            for (size_t k = 0; k < row.size; k++) {
                counts[filter][scratch[k]]++;
            }
        }
    }
    for (unsigned filter = FILTER_NONE; filter < FILTER_COUNT; filter++) {
        const uint64_t found = likeness(counts[filter]);
        best = found > most ? (enum png_filter)filter : best;
        most = found > most ? found : most;
    }
    return best;
}

enum png_filter png_rows_choose(const struct png_rows *rows, uint32_t y, uint32_t count, uint8_t *scratch) {
    uint64_t sums[FILTER_COUNT] = {0};
    if (rows->form->kind != FORM_SAMPLES) {
        return choose_of_codes(rows, y, count, scratch);
    }
    for (uint32_t i = first_sampled(count); i < count; i += SAMPLE_STEP) {
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
