/* SPDX-License-Identifier: MIT
 * Each row of the picture is loaded once, with margins, into a ring as high as the window. A row of the
 * result is a weighted sum of shifted rows of the ring. A separable matrix sums whole rows first, then shifts
 * of that sum. */
#include "cpu/filter.h"

#include <string.h>

#include "cpu/bands.h"
#include "cpu/grid.h"

enum { WEIGHTS_OF_BLUR = 8 }; /* this many weights cost as much as the blur of a sample */

struct window {
    const struct row_set *rows;
    const struct convolve_plan *plan;
    const struct plane *source;
    const struct plane *target;
    struct row_format format;
    unsigned count; /* weights that are not 0, but at least one; not used where the matrix is separable */
    uint8_t tap_x[MATRIX_MAX];
    uint8_t tap_y[MATRIX_MAX];
    float weight[MATRIX_MAX];
    ptrdiff_t loaded;    /* rows below this position are in the ring */
    struct grid ring;    /* row y of the extended picture at y modulo the window's height */
    struct grid outside; /* every row above and below under EDGE_ZERO */
    struct grid line;    /* separable: the sum of the rows, with its margins */
    struct grid sum;     /* a row of the result */
    struct grid plain;   /* the picture's row without multiplied colour, for its alpha */
};

static void choose_taps(struct window *window) {
    const struct convolve_plan *plan = window->plan;
    for (unsigned y = 0; y < plan->height; y++) {
        for (unsigned x = 0; x < plan->width; x++) {
            float weight = plan->weight[y * plan->width + x];
            if (weight != 0) {
                window->tap_x[window->count] = (uint8_t)x;
                window->tap_y[window->count] = (uint8_t)y;
                window->weight[window->count++] = weight;
            }
        }
    }
    window->count = window->count ? window->count : 1;
}

static void layout(struct window *window) {
    ptrdiff_t margin = window->plan->width / 2;
    struct span pixels = {0, (ptrdiff_t)window->source->width - 1};
    struct span wide = {-margin, pixels.hi + margin};
    struct span row = {0, 0};
    struct span height = {0, window->plan->height - 1};
    unsigned channels = window->format.channels;
    window->ring = grid_make(wide, height, sizeof(float), 1, channels);
    window->outside = grid_make(wide, row, sizeof(float), 1, channels);
    window->line = grid_make(wide, row, sizeof(float), 1, channels);
    window->sum = grid_make(pixels, row, sizeof(float), 1, channels);
    window->plain = grid_make(pixels, row, sizeof(float), 1, channels);
}

/* Places the grids; returns the bytes. */
static size_t place(struct window *window, uint8_t *memory) {
    size_t offset = 0;
    grid_place(&window->ring, memory, &offset);
    grid_place(&window->outside, memory, &offset);
    grid_place(&window->line, memory, &offset);
    grid_place(&window->sum, memory, &offset);
    grid_place(&window->plain, memory, &offset);
    return offset;
}

static void fill_margin(const struct window *window, const struct grid *grid, ptrdiff_t y, ptrdiff_t x) {
    size_t bytes = grid->step * sizeof(float);
    ptrdiff_t from = edge_source(window->plan->edge, (ptrdiff_t)window->source->width, x);
    if (from == OUTSIDE) {
        memset(grid_at(grid, y, 0, x), 0, bytes);
    } else {
        memcpy(grid_at(grid, y, 0, x), grid_at(grid, y, 0, from), bytes);
    }
}

static void fill_margins(const struct window *window, const struct grid *grid, ptrdiff_t y) {
    for (ptrdiff_t x = grid->x.lo; x < 0; x++) {
        fill_margin(window, grid, y, x);
    }
    for (ptrdiff_t x = window->source->width; x <= grid->x.hi; x++) {
        fill_margin(window, grid, y, x);
    }
}

/* The ring row that holds row y of the extended picture. */
static ptrdiff_t place_in_ring(const struct window *window, ptrdiff_t y) {
    return (y + window->plan->height) % window->plan->height; /* y is at least -height / 2 */
}

/* The row at position y, which may lie outside. Positions ascend, except within a window. */
static const struct grid *window_row(struct window *window, ptrdiff_t y, ptrdiff_t *at) {
    ptrdiff_t from = edge_source(window->plan->edge, (ptrdiff_t)window->source->height, y);
    if (from == OUTSIDE) {
        *at = 0;
        return &window->outside;
    }
    *at = place_in_ring(window, y);
    if (y >= window->loaded) {
        window->rows->floating.load(grid_at(&window->ring, *at, 0, 0),
                                    plane_row(window->source, (uint32_t)from), &window->format,
                                    window->source->width);
        fill_margins(window, &window->ring, *at);
        window->loaded = y + 1;
    }
    return &window->ring;
}

/* These functions leave the weighted sums of row y in window->sum. */
static void sum_direct(struct window *window, ptrdiff_t y) {
    const struct convolve_plan *plan = window->plan;
    const float *start[MATRIX_SIDE_MAX];
    for (unsigned i = 0; i < plan->height; i++) {
        ptrdiff_t at;
        const struct grid *grid = window_row(window, y + (ptrdiff_t)i - plan->height / 2, &at);
        start[i] = grid_at(grid, at, 0, grid->x.lo);
    }
    const float *row[MATRIX_MAX];
    for (unsigned i = 0; i < window->count; i++) {
        row[i] = start[window->tap_y[i]] + (size_t)window->tap_x[i] * window->format.channels;
    }
    window->rows->filter.weigh(grid_at(&window->sum, 0, 0, 0), row, window->weight, window->count,
                               (size_t)window->source->width * window->format.channels);
}

static void sum_separable(struct window *window, ptrdiff_t y) {
    const struct convolve_plan *plan = window->plan;
    size_t n = (size_t)window->source->width * window->format.channels;
    const float *row[MATRIX_SIDE_MAX];
    for (unsigned i = 0; i < plan->height; i++) {
        ptrdiff_t at;
        const struct grid *grid = window_row(window, y + (ptrdiff_t)i - plan->height / 2, &at);
        row[i] = grid_at(grid, at, 0, 0);
    }
    window->rows->filter.weigh(grid_at(&window->line, 0, 0, 0), row, plan->column, plan->height, n);
    fill_margins(window, &window->line, 0);
    for (unsigned i = 0; i < plan->width; i++) {
        row[i] = grid_at(&window->line, 0, 0, window->line.x.lo + (ptrdiff_t)i);
    }
    window->rows->filter.weigh(grid_at(&window->sum, 0, 0, 0), row, plan->row, plan->width, n);
}

static void store_row(struct window *window, uint32_t y) {
    const struct convolve_plan *plan = window->plan;
    const struct filter_rows *ops = &window->rows->filter;
    unsigned channels = window->format.channels;
    size_t pixels = window->source->width;
    size_t n = pixels * channels;
    float *sum = grid_at(&window->sum, 0, 0, 0);
    ops->divide(sum, plan->divisor, window->format.alpha ? 0 : plan->bias, n);
    if (window->format.alpha && plan->alpha) {
        ops->colour(sum, sum, plan->bias, channels, pixels);
    } else if (window->format.alpha) {
        struct row_format plain = {channels, window->format.depth, false};
        float *picture = grid_at(&window->plain, 0, 0, 0);
        window->rows->floating.load(picture, plane_row(window->source, y), &plain, pixels);
        ops->colour(sum, picture, plan->bias, channels, pixels);
        for (size_t i = channels - 1; i < n; i += channels) {
            sum[i] = picture[i];
        }
    }
    ops->store(plane_row(window->target, y), sum, window->format.depth, n);
}

/* Pixels lo to hi - 1 of row y belong to the frame: no colour, the picture's alpha. */
static void fill_frame(const struct window *window, uint32_t y, size_t lo, size_t hi) {
    size_t sample = window->format.depth / 8;
    size_t pixel = sample * window->format.channels;
    const uint8_t *from = plane_row(window->source, y);
    uint8_t *to = plane_row(window->target, y);
    memset(to + lo * pixel, 0, (hi - lo) * pixel);
    for (size_t x = lo; x < hi && window->format.alpha; x++) {
        size_t alpha = (x + 1) * pixel - sample;
        memcpy(to + alpha, from + alpha, sample);
    }
}

static void convolve_row(struct window *window, uint32_t y) {
    uint32_t width = window->source->width;
    uint32_t beside = window->plan->width / 2;
    uint32_t above = window->plan->height / 2;
    bool frame = window->plan->edge == EDGE_FRAME;
    if (frame && (y < above || y + above >= window->source->height || width <= 2 * beside)) {
        fill_frame(window, y, 0, width);
        return;
    }
    (window->plan->separable ? sum_separable : sum_direct)(window, y);
    store_row(window, y);
    if (frame) {
        fill_frame(window, y, 0, beside);
        fill_frame(window, y, width - beside, width);
    }
}

struct convolution {
    struct window window; /* without memory */
    uint8_t *memory;
    size_t size;
};

static void convolve_band(const void *context, const struct band *band) {
    const struct convolution *all = context;
    struct window window = all->window;
    place(&window, all->memory + band->seat * all->size);
    memset(window.outside.first, 0, window.outside.stride);
    for (uint32_t y = band->from; y < band->to; y++) {
        convolve_row(&window, y);
    }
}

/* The cost of a row, relative to the blur of its samples. */
static uint64_t row_cost(const struct window *window) {
    const struct convolve_plan *plan = window->plan;
    unsigned weights = plan->separable ? plan->width + plan->height : window->count;
    return (uint64_t)window->source->width * window->format.channels * (1 + weights / WEIGHTS_OF_BLUR);
}

static struct window make_window(const struct convolve_plan *plan, const struct image *source) {
    struct window window = {
        .plan = plan,
        .source = &source->plane[0],
        .format = {source->plane[0].channels, source->depth, image_pixel_has_alpha(source->model)},
        .loaded = PTRDIFF_MIN,
    };
    layout(&window);
    return window;
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct convolve_plan *plan = planned;
    (void)rows;
    struct window window = make_window(plan, source);
    return (struct scratch_need){.seat = place(&window, NULL)};
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct convolve_plan *plan = planned;
    struct convolution all = {.window = make_window(plan, source)};
    all.window.rows = context->rows;
    all.window.target = &target->plane[0];
    choose_taps(&all.window);
    all.size = place(&all.window, NULL);
    struct pass pass = {.rows = {source->height},
                        .cost = {row_cost(&all.window)},
                        .band = convolve_band,
                        .context = &all,
                        .deadline_ns = context->deadline_ns};
    unsigned seats = bands_seats(context->crew, &pass, all.size);
    enum status status =
        scratch_seats(context->scratch, &(struct scratch_need){.seat = all.size}, &seats, err);
    if (status == ST_OK) {
        all.memory = context->scratch->memory;
        status = bands_run(context->crew, seats, &pass, err);
    }
    return status;
}

const struct cpu_filter cpu_filter_convolve = {.run = run, .need = need};
