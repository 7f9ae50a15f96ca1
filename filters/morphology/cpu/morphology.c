/* SPDX-License-Identifier: MIT
 * Three comparisons a sample down the columns (van Herk, Gil and Werman), and along the rows as many as a
 * window's side has bits, of whole vectors. The picture is done in tiles, so that the rows of a window stay
 * in the cache.
 *
 * Down the columns: rows are cut into courses as high as the window. A window that begins in the middle of a
 * course ends in the next one, and has the extreme of the first one's rows from there on, and of the next
 * one's up to there. */
#include "core/numbers.h"
#include "cpu/filter.h"

#include "core/bytes.h"
#include "cpu/bands.h"
#include "cpu/extended.h"

enum {
    STRIP_BYTES = 4096, /* of a tile's row: a window of 51 of them fits in a core's cache */
    TILE_ROWS = 256,    /* long against a window */
    SAMPLES_OF_BLUR = 2 /* this many cost as much as the blur of one */
};

struct morphology {
    const struct rank_rows *rows;
    const struct image *source, *target;
    struct extended extended;
    struct row_format format;
    struct rank_order order;
    uint32_t radius;
    uint32_t columns; /* pixels of a tile's row, the last one may have fewer */
    uint32_t across;  /* tiles */
    size_t row;       /* bytes of a row with its margins */
    size_t seat;      /* bytes of working memory */
    uint8_t *memory;
};

/* A seat's working memory: rows of morphology.row bytes. */
struct rows_of_seat {
    uint8_t *suffix; /* as many as a window has: row i is the extreme of a course from row i on */
    uint8_t *running;
    uint8_t *line[2];
    uint8_t *samples; /* of a row that leaves the picture */
    uint8_t *loaded;  /* a row with multiplied colour */
};

enum { ROWS_BESIDE_SUFFIX = 5 };

struct morphology_tile {
    const struct morphology *all;
    struct rows_of_seat rows;
    ptrdiff_t x, y; /* of the first pixel that it makes */
    uint32_t columns, height;
};

static uint32_t window_of(const struct morphology *all) {
    return 2 * all->radius + 1;
}

static struct rows_of_seat rows_of(const struct morphology *all, unsigned seat) {
    uint8_t *memory = all->memory + seat * all->seat;
    uint8_t *rest = memory + window_of(all) * all->row;
    return (struct rows_of_seat){.suffix = memory,
                                 .running = rest,
                                 .line = {rest + all->row, rest + 2 * all->row},
                                 .samples = rest + 3 * all->row,
                                 .loaded = rest + 4 * all->row};
}

static size_t wide_pixels(const struct morphology_tile *tile) {
    return tile->columns + 2 * (size_t)tile->all->radius;
}

/* The elements of the row at position y, with margins. */
static const void *load(const struct morphology_tile *tile, ptrdiff_t y) {
    const struct morphology *all = tile->all;
    const void *samples = extended_row(&all->extended, y, tile->x - (ptrdiff_t)all->radius, wide_pixels(tile),
                                       tile->rows.samples);
    if (!all->format.alpha) {
        return samples;
    }
    all->rows->multiply(tile->rows.loaded, samples, &all->format, wide_pixels(tile));
    return tile->rows.loaded;
}

/* Makes the row at position y from `line`, the extremes of the columns. Windows of a power of two double; the
 * last two overlap. */
static void store(const struct morphology_tile *tile, uint32_t y, const uint8_t *line) {
    const struct morphology *all = tile->all;
    const struct plane *plane = &all->target->plane[0];
    const size_t pixel = all->format.channels * all->order.bytes;
    uint32_t size = 1, window = window_of(all);
    size_t n = wide_pixels(tile) * all->format.channels;
    for (unsigned i = 0; 2 * size <= window; size *= 2, i++) {
        uint8_t *to = tile->rows.line[i % 2];
        n -= size * all->format.channels;
        all->rows->extreme(to, line, line + size * pixel, all->order, n);
        line = to;
    }
    const uint8_t *other = line + (window - size) * pixel;
    size_t samples = (size_t)tile->columns * all->format.channels;
    uint8_t *target = plane_row(plane, y) + (size_t)tile->x * all->format.channels * (all->format.depth / 8);
    if (!all->format.alpha) {
        all->rows->extreme(target, line, other, all->order, samples);
        return;
    }
    all->rows->extreme(tile->rows.loaded, line, other, all->order, samples);
    all->rows->divide(target, tile->rows.loaded, &all->format, tile->columns);
}

/* Fills the suffixes of the course that begins at position y. */
static void fill_suffixes(const struct morphology_tile *tile, ptrdiff_t y) {
    const struct morphology *all = tile->all;
    const uint32_t last = window_of(all) - 1;
    const size_t n = wide_pixels(tile) * all->format.channels;
    const void *row = load(tile, y + last);
    all->rows->extreme(tile->rows.suffix + last * all->row, row, row, all->order, n);
    for (uint32_t i = last; i-- > 0;) {
        uint8_t *to = tile->rows.suffix + i * all->row;
        all->rows->extreme(to, load(tile, y + i), to + all->row, all->order, n);
    }
}

static void make_tile(const struct morphology_tile *tile) {
    const struct morphology *all = tile->all;
    const uint32_t window = window_of(all);
    const size_t n = wide_pixels(tile) * all->format.channels;
    for (uint32_t i = 0; i < tile->height; i++) {
        ptrdiff_t y = tile->y + (ptrdiff_t)i;
        uint32_t phase = i % window;
        const uint8_t *suffix = tile->rows.suffix + phase * all->row;
        if (phase == 0) {
            fill_suffixes(tile, y - (ptrdiff_t)all->radius);
            store(tile, (uint32_t)y, suffix);
            continue;
        }
        const void *row = load(tile, y + (ptrdiff_t)all->radius);
        if (phase == 1) {
            all->rows->extreme(tile->rows.running, row, row, all->order, n);
            all->rows->extreme(tile->rows.line[1], row, suffix, all->order, n);
        } else {
            all->rows->extremes(tile->rows.line[1], tile->rows.running, row, suffix, all->order, n);
        }
        store(tile, (uint32_t)y, tile->rows.line[1]);
    }
}

/* The rows of the band are tiles. */
static void morphology_band(const void *context, const struct band *band) {
    const struct morphology *all = context;
    for (uint32_t i = band->from; i < band->to; i++) {
        uint32_t x = i % all->across * all->columns, y = i / all->across * TILE_ROWS;
        struct morphology_tile tile = {.all = all,
                                       .rows = rows_of(all, band->seat),
                                       .x = x,
                                       .y = y,
                                       .columns = min_u32(all->columns, all->source->width - x),
                                       .height = min_u32(TILE_ROWS, all->source->height - y)};
        make_tile(&tile);
    }
}

static struct morphology make(const struct morphology_plan *plan, const struct image *source) {
    const struct plane *plane = &source->plane[0];
    const bool alpha = image_pixel_has_alpha(source->model);
    const unsigned bytes = source->depth / 8u * (alpha ? 2 : 1);
    struct morphology all = {
        .source = source,
        .extended = {plane, source->depth, plan->edge, 0},
        .format = {plane->channels, source->depth, alpha},
        .order = {.bytes = bytes},
        .radius = plan->radius,
        .columns = min_u32(STRIP_BYTES / (plane->channels * bytes), source->width),
    };
    all.across = (source->width + all.columns - 1) / all.columns;
    all.row =
        bytes_align_up((all.columns + 2 * (size_t)all.radius) * plane->channels * bytes, IMAGE_ALIGNMENT);
    all.seat = (window_of(&all) + ROWS_BESIDE_SUFFIX) * all.row;
    return all;
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct morphology_plan *plan = planned;
    (void)rows;
    return (struct scratch_need){.seat = make(plan, source).seat};
}

static enum status run(const struct cpu_context *context, const struct morphology_plan *plan, bool largest,
                       const struct image *source, const struct image *target, struct error *err) {
    struct morphology all = make(plan, source);
    all.rows = &context->rows->rank;
    all.target = target;
    all.order.largest = largest;
    uint32_t down = (source->height + TILE_ROWS - 1) / TILE_ROWS;
    uint64_t samples = (uint64_t)all.columns * all.format.channels * min_u32(TILE_ROWS, source->height);
    struct pass pass = {.rows = {all.across * down},
                        .cost = {samples / SAMPLES_OF_BLUR + 1},
                        .band = morphology_band,
                        .context = &all,
                        .deadline_ns = context->deadline_ns};
    unsigned seats = bands_seats(context->crew, &pass, all.seat);
    enum status status =
        scratch_seats(context->scratch, &(struct scratch_need){.seat = all.seat}, &seats, err);
    if (status == ST_OK) {
        all.memory = context->scratch->memory;
        status = bands_run(context->crew, seats, &pass, err);
    }
    return status;
}

static enum status dilate(const struct cpu_context *context, const void *plan, const struct image *source,
                          const struct image *target, struct error *err) {
    return run(context, plan, true, source, target, err);
}

static enum status erode(const struct cpu_context *context, const void *plan, const struct image *source,
                         const struct image *target, struct error *err) {
    return run(context, plan, false, source, target, err);
}

const struct cpu_filter cpu_filter_dilate = {.run = dilate, .need = need};
const struct cpu_filter cpu_filter_erode = {.run = erode, .need = need};
