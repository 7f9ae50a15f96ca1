/* SPDX-License-Identifier: MIT
 * A band of tiles at a time: its rows are added up column by column, the columns of each tile make its
 * mean, and the band's first row of means is copied to the others. */
#include "cpu/pixelate.h"

#include <string.h>

struct band {
    const struct row_set *rows;
    const struct plane *source;
    const struct plane *target;
    struct sample_format format;
    uint32_t width;  /* of a tile, in samples of the plane */
    uint32_t height; /* the same; the last band has fewer rows */
    bool wide;       /* the sums have 64 bits, see struct filter_rows */
    void *sum;       /* of the columns */
};

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Adds the columns of a tile that begins at pixel x. */
static void add_columns(const struct band *band, uint32_t x, uint32_t columns, uint64_t total[4]) {
    unsigned channels = band->format.channels;
    size_t first = (size_t)x * channels;
    const uint64_t *wide = (const uint64_t *)band->sum + (band->wide ? first : 0);
    const uint32_t *narrow = (const uint32_t *)band->sum + first;
    for (unsigned c = 0; c < channels; c++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < columns; i++) {
            sum += band->wide ? wide[i * channels + c] : narrow[i * channels + c];
        }
        total[c] = sum;
    }
}

/* floor((sum + floor(count / 2)) / count), where that is below 2^16 and the count at most 2^24: half a unit
 * more keeps the quotient further from whole numbers than the rounding errors of the product are. */
static unsigned mean(uint64_t sum, uint32_t count, double reciprocal) {
    return (unsigned)(((double)(int64_t)(sum + count / 2) + 0.5) * reciprocal);
}

static void tile_pixel(const struct band *band, const uint64_t total[4], uint32_t count, double reciprocal,
                       unsigned pixel[4]) {
    unsigned last = band->format.channels - 1;
    uint64_t alpha = total[last];
    for (unsigned c = 0; c < last; c++) {
        if (!band->format.alpha) {
            pixel[c] = mean(total[c], count, reciprocal);
        } else {
            pixel[c] = alpha ? (unsigned)((total[c] + alpha / 2) / alpha) : 0;
        }
    }
    pixel[last] = mean(alpha, count, reciprocal);
}

/* Writes a pixel `count` times from pixel x of the row on. */
static void repeat_pixel(void *row, const struct sample_format *format, uint32_t x, uint32_t count,
                         const unsigned pixel[4]) {
    size_t at = (size_t)x * format->channels;
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned c = 0; c < format->channels; c++, at++) {
            if (format->depth == 8) {
                ((uint8_t *)row)[at] = (uint8_t)pixel[c];
            } else {
                ((uint16_t *)row)[at] = (uint16_t)pixel[c];
            }
        }
    }
}

/* Fills `row` with the means of the tiles of a band that has `rows` rows. */
static void tile_row(const struct band *band, uint32_t rows, void *row) {
    double reciprocal = 1.0 / ((double)rows * band->width);
    for (uint32_t x = 0; x < band->source->width; x += band->width) {
        uint32_t columns = least(band->width, band->source->width - x);
        if (columns < band->width) {
            reciprocal = 1.0 / ((double)rows * columns);
        }
        uint64_t total[4];
        unsigned pixel[4];
        add_columns(band, x, columns, total);
        tile_pixel(band, total, rows * columns, reciprocal, pixel);
        repeat_pixel(row, &band->format, x, columns, pixel);
    }
}

static void pixelate_plane(const struct band *band) {
    const struct plane *source = band->source;
    size_t sums = (size_t)source->width * source->channels;
    for (uint32_t y = 0; y < source->height; y += band->height) {
        uint32_t rows = least(band->height, source->height - y);
        memset(band->sum, 0, sums * (band->wide ? sizeof(uint64_t) : sizeof(uint32_t)));
        for (uint32_t i = 0; i < rows; i++) {
            band->rows->filter.add(band->sum, plane_row(source, y + i), &band->format, source->width);
        }
        uint8_t *first = plane_row(band->target, y);
        tile_row(band, rows, first);
        for (uint32_t i = 1; i < rows; i++) {
            memcpy(plane_row(band->target, y + i), first, plane_row_bytes(source, band->format.depth));
        }
    }
}

enum status cpu_pixelate(const struct row_set *rows, struct scratch *scratch,
                         const struct pixelate_plan *plan, const struct image *source,
                         const struct image *target, struct error *err) {
    const struct plane *first = &source->plane[0]; /* no plane is wider */
    size_t sums = (size_t)first->width * first->channels;
    enum status status = scratch_reserve(scratch, sums * sizeof(uint64_t), err);
    if (status != ST_OK) {
        return status;
    }
    bool alpha = pixel_has_alpha(source->model);
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        struct band band = {
            .rows = rows,
            .source = plane,
            .target = &target->plane[i],
            .format = {plane->channels, source->depth, alpha},
            .width = plan->block >> plane->shift_x,
            .height = plan->block >> plane->shift_y,
            .wide = alpha && source->depth == 16,
            .sum = scratch->memory,
        };
        pixelate_plane(&band);
    }
    return ST_OK;
}
