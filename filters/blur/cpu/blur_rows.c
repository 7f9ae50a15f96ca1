/* SPDX-License-Identifier: MIT */
#include "filters/blur/cpu/blur_rows.h"

#include <string.h>

#include "filters/blur/cpu/blur_margin.h"

static struct taps axis_taps(const struct extent *extent) {
    return (struct taps){extent->axis->radius, extent->axis->weight, extent->axis->weight_float};
}

static struct taps stage_taps(const struct extent *extent, unsigned i) {
    const struct blur_stage *stage = &extent->stage[i];
    return (struct taps){stage->radius, stage->weight, stage->weight_float};
}

static ptrdiff_t modulo(ptrdiff_t value, ptrdiff_t period) {
    ptrdiff_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

/* The source row at position y, which may lie outside. Where rows are loaded, the ring keeps it while the
 * rows of one pass are collected, in ascending order without gaps. */
static const void *picture_row(struct blur_lines *lines, ptrdiff_t y) {
    const struct blur_job *job = lines->job;
    ptrdiff_t at = extent_source(&job->y, y);
    if (at == OUTSIDE) {
        return job->outside.first;
    }
    const uint8_t *samples = plane_row(job->source, (uint32_t)at);
    if (!job->loads) {
        return samples;
    }
    void *row = grid_at(&lines->picture, modulo(y, (ptrdiff_t)span_length(lines->picture.y)), 0, 0);
    if (y >= lines->loaded) {
        if (job->values) {
            job->ops->load(row, samples, &job->format, job->source->width);
        } else {
            job->ops->multiply(row, samples, &job->format, job->source->width);
        }
        lines->loaded = y + 1;
    }
    return row;
}

/* The input of stage `i`; i == job->stages is the blur itself. */
static const struct grid *input_grid(const struct blur_lines *lines, unsigned i) {
    return i == 0 ? &lines->picture : &lines->job->out[i - 1];
}

static const void *input_row(struct blur_lines *lines, unsigned i, ptrdiff_t y) {
    if (i == 0) {
        return picture_row(lines, y);
    }
    const struct grid *from = input_grid(lines, i);
    return grid_at(from, extent_kept(&lines->job->y, i, y), 0, from->x.lo);
}

/* Runs the vertical pass at position `centre` of stage i's input, into row y of `to`. Without taps the row is
 * only widened to values. */
static void vertical(struct blur_lines *lines, unsigned i, ptrdiff_t centre, const struct taps *taps,
                     const struct grid *to, ptrdiff_t y) {
    const struct row_ops *ops = lines->job->ops;
    const struct grid *from = input_grid(lines, i);
    bool values = i > 0 || lines->job->values;
    size_t n = span_length(from->x) * from->step;
    const uint8_t *row[BLUR_ROWS_MAX];
    unsigned rows = taps ? 2 * taps->radius + 1 : 1;
    for (unsigned k = 0; k < rows; k++) {
        row[k] = input_row(lines, i, centre + (ptrdiff_t)k - (ptrdiff_t)(rows / 2));
    }
    for (unsigned s = 0; s < from->segments; s++) {
        void *out = grid_at(to, y, s, from->x.lo);
        if (taps) {
            (values ? ops->taps : ops->taps_source)(out, (const void *const *)row, taps, n);
        } else if (!values) {
            ops->widen(out, row[0], n);
        } else {
            memcpy(out, row[0], n * from->value);
        }
        for (unsigned k = 0; k < rows; k++) {
            row[k] += from->segment * from->value;
        }
    }
}

/* Makes row y of stage i's result in row `at` of `to`: vertical pass, margins, horizontal pass. */
static void reduce_row(struct blur_lines *lines, unsigned i, ptrdiff_t y, const struct grid *to,
                       ptrdiff_t at) {
    const struct blur_job *job = lines->job;
    const struct blur_stage_lines *stage = &lines->stage[i];
    const struct grid *from = input_grid(lines, i);
    bool down = i < job->y.stages;
    bool across = i < job->x.stages;
    struct taps taps_y = down ? stage_taps(&job->y, i) : (struct taps){0};
    const struct grid *line = across ? &stage->line : to;
    ptrdiff_t line_y = across ? 0 : at;
    const struct grid *first = stage->mixed.stride ? &stage->mixed : line;
    vertical(lines, i, down ? y * (1 << job->y.stage[i].shift) : y, down ? &taps_y : NULL, first,
             first == line ? line_y : 0);
    if (first != line) {
        job->ops->split(grid_at(line, 0, 0, from->x.lo), line->segment, first->first, from->step,
                        span_length(from->x));
    }
    blur_margin_fill(job, line, line_y, from->x, i == 0);
    if (!across) {
        return;
    }
    struct taps taps_x = stage_taps(&job->x, i);
    unsigned shift = job->x.stage[i].shift;
    for (unsigned s = 0; s < line->segments; s++) {
        job->ops->reduce(grid_at(to, at, s, to->x.lo), grid_at(line, 0, s, to->x.lo * (1 << shift)), &taps_x,
                         shift, to->step, span_length(to->x));
    }
}

/* Row functions write beyond the end of a row, so the
 * last rows are made in a row of their own and copied: they would damage rows of other bands. */
void blur_rows_reduce(struct blur_lines *lines, unsigned i, uint32_t from, uint32_t to) {
    const struct grid *out = &lines->job->out[i], *last = &lines->stage[i].last;
    bool ends = to == span_length(out->y);
    for (uint32_t row = from; row < to; row++) {
        ptrdiff_t y = out->y.lo + (ptrdiff_t)row;
        if (ends || (to - row - 1) * out->stride >= ROW_SLACK * out->value) {
            reduce_row(lines, i, y, out, y);
        } else {
            reduce_row(lines, i, y, last, 0);
            memcpy(grid_at(out, y, 0, out->x.lo), last->first, out->stride);
        }
    }
}

/* Stores pixels of row y of the target, from x on; `row` has their values. In fixed point they are there
 * already. */
static void finish_pixels(const struct blur_lines *lines, float *row, uint32_t y, uint32_t x, size_t pixels) {
    const struct blur_job *job = lines->job;
    const struct blur_finish *finish = job->finish;
    size_t offset = (size_t)x * job->format.channels * (job->format.depth / 8);
    uint8_t *to = plane_row(job->target, y) + offset;
    if (finish) {
        finish->row(finish->context, to, plane_row(job->source, y) + offset, row,
                    (float *)(void *)lines->spare.first, &job->format, pixels);
    } else if (blur_job_is_float(job)) {
        job->ops->store(to, row, &job->format, pixels);
    }
}

static void finish_row(const struct blur_lines *lines, uint32_t y) {
    const struct cpu_row_done *done = lines->job->done;
    if (done) {
        done->row(done->context, lines->job->plane, y);
    }
}

/* Where the last pass writes pixels of row y from x on, before finish_pixels. */
static void *output_pixels(const struct blur_lines *lines, uint32_t y, uint32_t x) {
    const struct blur_job *job = lines->job;
    return blur_job_is_float(job) ? lines->last.first
                                  : plane_row(job->target, y) + (size_t)x * job->format.channels;
}

static uint32_t strip_pixels(const struct blur_job *job, uint32_t x) {
    uint32_t rest = job->source->width - x;
    return rest < STRIP_PIXELS ? rest : STRIP_PIXELS;
}

static void *ring_row(const struct blur_lines *lines, ptrdiff_t y) {
    return grid_at(&lines->ring, y & (RING_ROWS - 1), 0, 0);
}

/* Runs the horizontal taps over row `at` of lines->line: `pixels` positions of segment `s` from `from` on. */
static void taps_across(const struct blur_lines *lines, ptrdiff_t at, unsigned s, ptrdiff_t from, void *to,
                        size_t pixels, bool last) {
    const struct blur_job *job = lines->job;
    const struct grid *line = &lines->line;
    struct taps taps = axis_taps(&job->x);
    const void *row[BLUR_ROWS_MAX];
    for (unsigned k = 0; k <= 2 * taps.radius; k++) {
        row[k] = grid_at(line, at, s, from + (ptrdiff_t)k - (ptrdiff_t)taps.radius);
    }
    (last ? job->ops->taps_last : job->ops->taps)(to, row, &taps, pixels * line->step);
}

/* The same without reduction, for the whole row, which becomes row y of the result. */
static void blur_across(const struct blur_lines *lines, ptrdiff_t at, uint32_t y) {
    const struct blur_job *job = lines->job;
    for (uint32_t x = 0; x < job->source->width; x += STRIP_PIXELS) {
        uint32_t pixels = strip_pixels(job, x);
        void *to = output_pixels(lines, y, x);
        taps_across(lines, at, 0, x, to, pixels, true);
        finish_pixels(lines, to, y, x, pixels);
    }
    finish_row(lines, y);
}

/* Whether the horizontal taps of a group are faster together. With few taps most of the time is theirs
 * anyway. */
static bool groups_across(const struct blur_job *job) {
    enum { RADIUS_LEAST = 4 };
    return job->ops->across_group && job->format.channels >= 3 && job->x.axis->radius >= RADIUS_LEAST &&
           blur_job_group(job) > 1;
}

/* Runs the horizontal taps over the group in lines->line, from position `from` on, into to[0], to[1], ... */
static void taps_across_group(const struct blur_lines *lines, ptrdiff_t from, void *const *to,
                              size_t pixels) {
    struct taps taps = axis_taps(&lines->job->x);
    const void *row[TAPS_GROUP];
    for (unsigned j = 0; j < TAPS_GROUP; j++) {
        row[j] = grid_at(&lines->line, j, 0, from);
    }
    lines->job->ops->across_group(to, row, &taps, lines->job->format.channels, pixels);
}

/* Makes rows y, y + 1, ... of the result from the group in lines->line. */
static void blur_across_group(const struct blur_lines *lines, uint32_t y) {
    const struct blur_job *job = lines->job;
    float *const first = (float *)(void *)lines->last.first;
    void *to[TAPS_GROUP];
    for (unsigned j = 0; j < TAPS_GROUP; j++) {
        to[j] = first + j * (STRIP_PIXELS * (size_t)job->format.channels + ROW_BLOCK);
    }
    for (uint32_t x = 0; x < job->source->width; x += STRIP_PIXELS) {
        uint32_t pixels = strip_pixels(job, x);
        taps_across_group(lines, x, to, pixels);
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            finish_pixels(lines, to[j], y + j, x, pixels);
        }
    }
    for (unsigned j = 0; j < TAPS_GROUP; j++) {
        finish_row(lines, y + j);
    }
}

static void enlarge_across(const struct blur_lines *lines, ptrdiff_t at, void *to, bool last) {
    const struct blur_job *job = lines->job;
    const struct grid *from = &lines->blurred, *wide = &lines->enlarged;
    size_t width = job->source->width;
    if (from->segments == 1) {
        (last ? job->ops->enlarge_last : job->ops->enlarge)(to, grid_at(from, at, 0, 0), job->cubic_x,
                                                            from->step, width);
        return;
    }
    for (unsigned s = 0; s < from->segments; s++) {
        job->ops->enlarge(grid_at(wide, 0, s, 0), grid_at(from, at, s, 0), job->cubic_x, 1, width);
    }
    job->ops->merge(to, wide->first, wide->segment, from->segments, width);
}

/* Makes the vertical taps of a group of rows from y on, with margins, in lines->line. */
static void vertical_group(struct blur_lines *lines, ptrdiff_t y) {
    const struct blur_job *job = lines->job;
    const struct grid *from = input_grid(lines, job->stages);
    bool values = job->stages > 0 || job->values;
    struct taps taps = axis_taps(&job->y);
    const void *row[BLUR_ROWS_MAX + TAPS_GROUP - 1];
    void *to[TAPS_GROUP];
    for (unsigned k = 0; k < 2 * taps.radius + TAPS_GROUP; k++) {
        row[k] = input_row(lines, job->stages, y + (ptrdiff_t)k - (ptrdiff_t)taps.radius);
    }
    for (unsigned j = 0; j < TAPS_GROUP; j++) {
        to[j] = grid_at(&lines->line, j, 0, from->x.lo);
    }
    (values ? job->ops->taps_group : job->ops->taps_group_source)(to, row, &taps,
                                                                  span_length(from->x) * from->step);
    for (unsigned j = 0; j < TAPS_GROUP; j++) {
        blur_margin_fill(job, &lines->line, j, from->x, job->stages == 0);
    }
}

/* The vertical taps of row y alone. */
static void vertical_row(struct blur_lines *lines, ptrdiff_t y) {
    const struct blur_job *job = lines->job;
    struct taps taps = axis_taps(&job->y);
    vertical(lines, job->stages, y, &taps, &lines->line, 0);
    blur_margin_fill(job, &lines->line, 0, input_grid(lines, job->stages)->x, job->stages == 0);
}

/* Runs the taps of the low-resolution rows from y on, a group of them, and stores them in lines->blurred; in
 * lines->line where the horizontal axis is not reduced. */
static void blur_low_rows(struct blur_lines *lines, ptrdiff_t y) {
    const struct blur_job *job = lines->job;
    const struct grid *blurred = &lines->blurred;
    const unsigned group = blur_job_group(job);
    group > 1 ? vertical_group(lines, y) : vertical_row(lines, y);
    if (job->x.stages == 0) {
        return;
    }
    if (groups_across(job)) {
        void *to[TAPS_GROUP];
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            to[j] = grid_at(blurred, j, 0, blurred->x.lo);
        }
        taps_across_group(lines, blurred->x.lo, to, span_length(blurred->x));
        return;
    }
    for (unsigned j = 0; j < group; j++) {
        for (unsigned s = 0; s < blurred->segments; s++) {
            taps_across(lines, j, s, blurred->x.lo, grid_at(blurred, j, s, blurred->x.lo),
                        span_length(blurred->x), false);
        }
    }
}

/* Makes pixels of row y of the result, from x on, between four rows. */
static void enlarge_pixels(const struct blur_lines *lines, const void *const row[BLUR_TAPS_ENLARGE],
                           uint32_t phase, uint32_t y, uint32_t x, uint32_t pixels) {
    const struct blur_job *job = lines->job;
    if (blur_job_is_float(job) && !job->finish) {
        size_t offset = (size_t)x * job->format.channels * (job->format.depth / 8);
        job->ops->cubic_store(plane_row(job->target, y) + offset, row, job->cubic_y, phase, &job->format,
                              pixels);
        return;
    }
    void *to = output_pixels(lines, y, x);
    job->ops->cubic_last(to, row, job->cubic_y, phase, (size_t)pixels * job->source->channels);
    finish_pixels(lines, to, y, x, pixels);
}

/* Makes the rows of the result between low-resolution rows u and u + 1; the ring has u - 1 to u + 2. */
static void enlarge_down(const struct blur_lines *lines, ptrdiff_t u) {
    const struct blur_job *job = lines->job;
    uint32_t first = (uint32_t)u << job->y.axis->levels, rest = job->source->height - first;
    uint32_t rows = 1u << job->y.axis->levels;
    rows = rest < rows ? rest : rows;
    for (uint32_t x = 0; x < job->source->width; x += STRIP_PIXELS) {
        const void *row[BLUR_TAPS_ENLARGE];
        for (int k = 0; k < BLUR_TAPS_ENLARGE; k++) {
            row[k] = grid_at(&lines->ring, (u - 1 + k) & (RING_ROWS - 1), 0, x);
        }
        uint32_t pixels = strip_pixels(job, x);
        for (uint32_t phase = 0; phase < rows; phase++) {
            enlarge_pixels(lines, row, phase, first + phase, x, pixels);
        }
    }
    for (uint32_t phase = 0; phase < rows; phase++) {
        finish_row(lines, first + phase);
    }
}

/* Makes rows of the result, whose vertical axis is not reduced. */
static void blur_direct_rows(struct blur_lines *lines, uint32_t from, uint32_t to) {
    const struct blur_job *job = lines->job;
    uint32_t y = from;
    for (; blur_job_group(job) > 1 && y + TAPS_GROUP <= to; y += TAPS_GROUP) {
        vertical_group(lines, y);
        if (groups_across(job)) {
            blur_across_group(lines, y);
            continue;
        }
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            blur_across(lines, j, y + j);
        }
    }
    for (; y < to && job->x.stages == 0; y++) {
        vertical_row(lines, y);
        blur_across(lines, 0, y);
    }
    for (; y < to; y++) {
        void *row = output_pixels(lines, y, 0);
        blur_low_rows(lines, y);
        enlarge_across(lines, 0, row, true);
        finish_pixels(lines, row, y, 0, job->source->width);
        finish_row(lines, y);
    }
}

void blur_rows_last(struct blur_lines *lines, uint32_t from, uint32_t to) {
    const struct blur_job *job = lines->job;
    const ptrdiff_t first = (ptrdiff_t)from - 1, group = (ptrdiff_t)blur_job_group(job);
    if (job->y.stages == 0) {
        blur_direct_rows(lines, from, to);
        return;
    }
    for (ptrdiff_t y = first; y <= (ptrdiff_t)to + 1; y++) {
        ptrdiff_t at = (y - first) % group;
        if (at == 0) {
            blur_low_rows(lines, y);
        }
        if (job->x.stages > 0) {
            enlarge_across(lines, at, ring_row(lines, y), false);
        } else {
            taps_across(lines, at, 0, 0, ring_row(lines, y), job->source->width, false);
        }
        if (y - 2 >= (ptrdiff_t)from) {
            enlarge_down(lines, y - 2);
        }
    }
}
