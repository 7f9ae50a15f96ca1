/* SPDX-License-Identifier: MIT
 * Each course of tiles has its rows added up column by column; the columns of a tile make its mean, and the
 * first row of means is copied to the others. */
#include "core/numbers.h"
#include "cpu/filter.h"

#include <string.h>

#include "core/bytes.h"
#include "cpu/bands.h"

struct course {
    const struct row_set *rows;
    const struct plane *source;
    const struct plane *target;
    struct row_format format;
    uint32_t width;  /* of a tile, in samples */
    uint32_t height; /* the last course has fewer rows */
    bool wide;       /* the sums have 64 bits, see struct filter_rows */
    void *sum;       /* column sums */
};

/* floor((sum + floor(count / 2)) / count), for quotients below 2^16 and counts up to 2^24. The extra half
 * keeps the quotient further from whole numbers than the rounding errors of the product. */
static inline unsigned mean(uint64_t sum, uint32_t count, double reciprocal) {
    return (unsigned)(int32_t)(((double)(int64_t)(sum + count / 2) + 0.5) * reciprocal);
}

static inline unsigned tile_sample(const uint64_t *total, unsigned c, unsigned channels, bool alpha,
                                   uint32_t count, double reciprocal) {
    uint64_t weight = total[channels - 1];
    if (!alpha || c + 1 == channels) {
        return mean(total[c], count, reciprocal);
    }
    return weight ? (unsigned)((total[c] + weight / 2) / weight) : 0;
}

/* Makes the tile of `columns` columns that begins at pixel x: sums, means, its part of the row. Inlined with
 * constants for small tiles. */
static inline __attribute__((always_inline)) void tile(const struct course *course, void *row, uint32_t x,
                                                       uint32_t columns, uint32_t count, double reciprocal,
                                                       unsigned channels, unsigned depth, bool alpha) {
    size_t first = (size_t)x * channels;
    size_t end = first + (size_t)columns * channels;
    const uint64_t *wide = course->sum;
    const uint32_t *narrow = course->sum;
    uint64_t total[4] = {0};
    for (size_t at = first; at < end; at += channels) {
        for (unsigned c = 0; c < channels; c++) {
            total[c] += alpha && depth == 16 ? wide[at + c] : narrow[at + c];
        }
    }
    unsigned pixel[4];
    for (unsigned c = 0; c < channels; c++) {
        pixel[c] = tile_sample(total, c, channels, alpha, count, reciprocal);
    }
    for (size_t at = first; at < end; at += channels) {
        for (unsigned c = 0; c < channels; c++) {
            if (depth == 8) {
                ((uint8_t *)row)[at + c] = (uint8_t)pixel[c];
            } else {
                ((uint16_t *)row)[at + c] = (uint16_t)pixel[c];
            }
        }
    }
}

static inline __attribute__((always_inline)) void tiles(const struct course *course, uint32_t rows, void *row,
                                                        unsigned channels, unsigned depth, bool alpha) {
    uint32_t width = course->source->width;
    uint32_t whole = width - width % course->width;
    double reciprocal = 1.0 / ((double)rows * course->width);
    for (uint32_t x = 0; x < whole; x += course->width) {
        tile(course, row, x, course->width, rows * course->width, reciprocal, channels, depth, alpha);
    }
    if (whole < width) { /* cut by the border */
        reciprocal = 1.0 / ((double)rows * (width - whole));
        tile(course, row, whole, width - whole, rows * (width - whole), reciprocal, channels, depth, alpha);
    }
}

static inline __attribute__((always_inline)) void tiles_of_depth(const struct course *course, uint32_t rows,
                                                                 void *row, unsigned depth) {
    switch (course->format.channels) {
    case 1:
        tiles(course, rows, row, 1, depth, false);
        break;
    case 2:
        tiles(course, rows, row, 2, depth, true);
        break;
    case 3:
        tiles(course, rows, row, 3, depth, false);
        break;
    default:
        tiles(course, rows, row, 4, depth, true);
        break;
    }
}

/* Fills `row` with the means of the tiles of a course of `rows` rows. */
static void tile_row(const struct course *course, uint32_t rows, void *row) {
    if (course->format.depth == 8) {
        tiles_of_depth(course, rows, row, 8);
    } else {
        tiles_of_depth(course, rows, row, 16);
    }
}

static void pixelate_course(const struct course *course, uint32_t y) {
    const struct plane *source = course->source;
    size_t sums = (size_t)source->width * source->channels;
    uint32_t rows = min_u32(course->height, source->height - y);
    memset(course->sum, 0, sums * (course->wide ? sizeof(uint64_t) : sizeof(uint32_t)));
    for (uint32_t i = 0; i < rows; i++) {
        course->rows->filter.add(course->sum, plane_row(source, y + i), &course->format, source->width);
    }
    uint8_t *first = plane_row(course->target, y);
    tile_row(course, rows, first);
    for (uint32_t i = 1; i < rows; i++) {
        memcpy(plane_row(course->target, y + i), first, plane_row_bytes(source, course->format.depth));
    }
}

struct pixelation {
    const struct cpu_context *context;
    const struct pixelate_plan *plan;
    const struct image *source;
    const struct image *target;
    size_t sums;
};

/* The rows of the band are courses. */
static void pixelate_band(const void *context, const struct band *band) {
    const struct pixelation *all = context;
    const struct plane *plane = &all->source->plane[band->plane];
    bool alpha = image_pixel_has_alpha(all->source->model);
    struct course course = {
        .rows = all->context->rows,
        .source = plane,
        .target = &all->target->plane[band->plane],
        .format = {plane->channels, all->source->depth, alpha},
        .width = all->plan->block >> plane->shift_x,
        .height = all->plan->block >> plane->shift_y,
        .wide = alpha && all->source->depth == 16,
        .sum = all->context->scratch->memory + band->seat * all->sums,
    };
    for (uint32_t i = band->from; i < band->to; i++) {
        pixelate_course(&course, i * course.height);
    }
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    (void)rows;
    (void)planned;
    const struct plane *first = &source->plane[0]; /* no plane is wider */
    size_t sums = (size_t)first->width * first->channels * sizeof(uint64_t);
    return (struct scratch_need){.seat = bytes_align_up(sums, IMAGE_ALIGNMENT)};
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct pixelate_plan *plan = planned;
    const struct scratch_need own = need(context->rows, plan, source);
    struct pixelation all = {context, plan, source, target, own.seat};
    struct pass pass = {.band = pixelate_band, .context = &all, .deadline_ns = context->deadline_ns};
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        uint32_t height = plan->block >> plane->shift_y;
        pass.rows[i] = (plane->height + height - 1) / height;
        pass.cost[i] = (uint64_t)plane->width * plane->channels * min_u32(height, plane->height);
    }
    unsigned seats = bands_seats(context->crew, &pass, own.seat);
    enum status status = scratch_seats(context->scratch, &own, &seats, err);
    if (status == ST_OK) {
        status = bands_run(context->crew, seats, &pass, err);
    }
    return status;
}

const struct cpu_filter cpu_filter_pixelate = {.run = run, .need = need};
