/* SPDX-License-Identifier: MIT
 * The blur of one plane, as docs/filters.md defines it:
 *
 *     each stage    vertical, then horizontal reduction: a small picture
 *     blur          vertical, then horizontal taps, row by row of the smallest picture
 *     enlargement   horizontal into a ring of four rows, vertical into the target
 *
 * An axis that is not reduced skips its part of the first and the third line. The first step of a plan reads
 * the picture, and the last one writes it. The stages store reduced pictures; all other storage is rows. The
 * same code serves both kinds of arithmetic; struct row_ops holds the differences.
 *
 * Each line above is a pass over all planes, whose rows a crew makes in bands; the second and the third are
 * one pass. A pass begins when the previous one is done, so a band finds all rows that it reads, near or far.
 */
#include "cpu/filters/filters.h"

#include <string.h>

#include "cpu/filters/blur_job.h"
#include "cpu/filters/blur_margin.h"

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

/* The picture's row at position y, which may lie outside. In floating point the ring keeps it while the rows
 * of one pass are collected, in ascending order without gaps. */
static const void *picture_row(struct blur_lines *lines, ptrdiff_t y) {
    const struct blur_job *job = lines->job;
    ptrdiff_t at = extent_source(&job->y, y);
    if (at == OUTSIDE) {
        return job->outside.first;
    }
    const uint8_t *samples = plane_row(job->source, (uint32_t)at);
    if (!blur_job_is_float(job)) {
        return samples;
    }
    void *row = grid_at(&lines->picture, modulo(y, (ptrdiff_t)span_length(lines->picture.y)), 0, 0);
    if (y >= lines->loaded) {
        job->ops->load(row, samples, &job->format, job->source->width);
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
    size_t n = span_length(from->x) * from->step;
    const uint8_t *row[BLUR_ROWS_MAX];
    unsigned rows = taps ? 2 * taps->radius + 1 : 1;
    for (unsigned k = 0; k < rows; k++) {
        row[k] = input_row(lines, i, centre + (ptrdiff_t)k - (ptrdiff_t)(rows / 2));
    }
    for (unsigned s = 0; s < from->segments; s++) {
        void *out = grid_at(to, y, s, from->x.lo);
        if (taps) {
            (i == 0 ? ops->taps_source : ops->taps)(out, (const void *const *)row, taps, n);
        } else if (i == 0) {
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
                         shift, span_length(to->x));
    }
}

/* Makes rows of stage i's result, counted from its first. Row functions write beyond the end of a row, so the
 * last rows are made in a row of their own and copied: they would damage rows of other bands. */
static void reduce_rows(struct blur_lines *lines, unsigned i, uint32_t from, uint32_t to) {
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

static void *output_row(const struct blur_lines *lines, uint32_t y) {
    return blur_job_is_float(lines->job) ? (void *)lines->last.first : plane_row(lines->job->target, y);
}

static void finish_row(const struct blur_lines *lines, uint32_t y) {
    const struct blur_job *job = lines->job;
    const struct blur_finish *finish = job->finish;
    void *to = plane_row(job->target, y);
    float *row = (float *)(void *)lines->last.first;
    if (finish) {
        finish->row(finish->context, to, plane_row(job->source, y), row, (float *)(void *)lines->spare.first,
                    &job->format, job->target->width);
    } else if (blur_job_is_float(job)) {
        job->ops->store(to, row, &job->format, job->target->width);
    }
    if (job->done) {
        job->done->row(job->done->context, job->plane, y);
    }
}

static void *ring_row(const struct blur_lines *lines, ptrdiff_t y) {
    return grid_at(&lines->ring, y & (RING_ROWS - 1), 0, 0);
}

/* Runs the horizontal taps over lines->line, into `to` (positions job->x.blurred of each segment). */
static void blur_across(const struct blur_lines *lines, uint8_t *to, bool last) {
    const struct blur_job *job = lines->job;
    const struct grid *line = &lines->line;
    struct taps taps = axis_taps(&job->x);
    size_t n = span_length(job->x.blurred) * line->step;
    for (unsigned s = 0; s < line->segments; s++) {
        const void *row[BLUR_ROWS_MAX];
        for (unsigned k = 0; k <= 2 * taps.radius; k++) {
            row[k] = grid_at(line, 0, s, line->x.lo + (ptrdiff_t)k);
        }
        (last ? job->ops->taps_last : job->ops->taps)(to + s * lines->blurred.segment * line->value, row,
                                                      &taps, n);
    }
}

static void enlarge_across(const struct blur_lines *lines, void *to, bool last) {
    const struct blur_job *job = lines->job;
    const struct grid *from = &lines->blurred, *wide = &lines->enlarged;
    size_t width = job->source->width;
    if (from->segments == 1) {
        (last ? job->ops->enlarge_last : job->ops->enlarge)(to, grid_at(from, 0, 0, 0), job->cubic_x, width);
        return;
    }
    for (unsigned s = 0; s < from->segments; s++) {
        job->ops->enlarge(grid_at(wide, 0, s, 0), grid_at(from, 0, s, 0), job->cubic_x, width);
    }
    job->ops->merge(to, wide->first, wide->segment, from->segments, width);
}

/* Blurs row y of the low-resolution picture, enlarges it horizontally, and stores it in `to`. */
static void blur_row(struct blur_lines *lines, ptrdiff_t y, void *to, bool last) {
    const struct blur_job *job = lines->job;
    struct taps taps = axis_taps(&job->y);
    vertical(lines, job->stages, y, &taps, &lines->line, 0);
    blur_margin_fill(job, &lines->line, 0, input_grid(lines, job->stages)->x, job->stages == 0);
    if (job->x.stages == 0) {
        blur_across(lines, to, last);
        return;
    }
    blur_across(lines, lines->blurred.first, false);
    enlarge_across(lines, to, last);
}

/* Makes the rows of the result between low-resolution rows u and u + 1; the ring has u - 1 to u + 2. */
static void enlarge_down(const struct blur_lines *lines, ptrdiff_t u) {
    const struct blur_job *job = lines->job;
    unsigned levels = job->y.axis->levels;
    const void *row[BLUR_TAPS_ENLARGE];
    for (int k = 0; k < BLUR_TAPS_ENLARGE; k++) {
        row[k] = ring_row(lines, u - 1 + k);
    }
    size_t n = (size_t)job->source->width * job->source->channels;
    uint64_t y = (uint64_t)u << levels;
    for (unsigned phase = 0; phase < 1u << levels && y < job->source->height; phase++, y++) {
        job->ops->cubic_last(output_row(lines, (uint32_t)y), row, job->cubic_y, phase, n);
        finish_row(lines, (uint32_t)y);
    }
}

/* Makes the result from low-resolution row `from` to `to`. Neighbouring bands make three of these rows. */
static void blur_rows(struct blur_lines *lines, uint32_t from, uint32_t to) {
    if (lines->job->y.stages == 0) {
        for (uint32_t y = from; y < to; y++) {
            blur_row(lines, y, output_row(lines, y), true);
            finish_row(lines, y);
        }
        return;
    }
    for (ptrdiff_t y = (ptrdiff_t)from - 1; y <= (ptrdiff_t)to + 1; y++) {
        blur_row(lines, y, ring_row(lines, y), false);
        if (y - 2 >= (ptrdiff_t)from) {
            enlarge_down(lines, y - 2);
        }
    }
}

/* A strip of the last pass makes three low-resolution rows that its neighbours make, too, and in floating
 * point it loads rows again. */
enum { STRIP_ROWS = 8, STRIP_ROWS_FLOAT = 64 };

struct blur_pass {
    const struct blur_jobs *jobs;
    bool reduces;   /* false: the last pass */
    unsigned stage; /* of a reducing pass */
};

static void run_band(const void *context, const struct band *band) {
    const struct blur_pass *pass = context;
    struct blur_lines lines = blur_jobs_lines(pass->jobs, band);
    if (pass->reduces) {
        reduce_rows(&lines, pass->stage, band->from, band->to);
    } else {
        blur_rows(&lines, band->from, band->to);
    }
}

/* The lowest row that an axis of CLAMP or ZERO reads; such an axis never looks back up. */
static uint32_t reach(const void *context, unsigned plane, uint32_t to) {
    const struct blur_pass *pass = context;
    const struct blur_job *job = &pass->jobs->plane[plane];
    ptrdiff_t row = (ptrdiff_t)to - 1;
    if (pass->reduces && job->y.stages > 0) {
        row = (job->out[0].y.lo + row) * (1 << job->y.stage[0].shift) + job->y.stage[0].radius;
    } else {
        row += pass->reduces ? job->out[0].y.lo : job->y.axis->radius;
    }
    row = row < 0 ? 0 : row;
    return row + 1 < job->y.size ? (uint32_t)(row + 1) << job->source->shift_y : UINT32_MAX;
}

/* Rows of the result that the last pass has made with its rows below `to`. */
static uint32_t makes(const void *context, unsigned plane, uint32_t to) {
    const struct blur_pass *pass = context;
    const struct blur_job *job = &pass->jobs->plane[plane];
    unsigned levels = job->y.stages ? job->y.axis->levels : 0, shift = levels + job->source->shift_y;
    return to < blur_job_rows(job, job->stages) ? to << shift : UINT32_MAX;
}

static enum status run_pass(const struct cpu_context *context, const struct pass *pass,
                            const struct producer *producer, struct error *err) {
    const struct blur_pass *own = pass->context;
    const struct blur_jobs *jobs = own->jobs;
    enum edge edge = jobs->plane[0].y.edge;
    enum status status = ST_OK;
    if (edge != EDGE_CLAMP && edge != EDGE_ZERO) { /* the first rows depend on the last ones */
        status = producer_make(producer, err);
        producer = NULL;
    }
    if (status == ST_OK && (producer || (pass->progress && jobs->seats == 1))) {
        return bands_follow(context->crew, jobs->seats, pass, reach, producer, err);
    }
    if (status == ST_OK) {
        status = bands_run(context->crew, jobs->seats, pass, err);
    }
    return status;
}

static struct pass make_pass(const struct blur_pass *own, const struct cpu_context *context) {
    const struct blur_jobs *jobs = own->jobs;
    struct pass pass = {.band = run_band,
                        .context = own,
                        .least = blur_job_is_float(&jobs->plane[0]) ? STRIP_ROWS_FLOAT : STRIP_ROWS,
                        .progress = own->reduces ? NULL : context->progress,
                        .deadline_ns = context->deadline_ns,
                        .makes = makes};
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct blur_job *job = &jobs->plane[i];
        if (!own->reduces || own->stage < job->stages) { /* reduced planes have fewer stages */
            pass.rows[i] = blur_job_rows(job, own->reduces ? own->stage : job->stages);
            pass.cost[i] = blur_job_cost(job, own->reduces ? own->stage : job->stages);
        }
    }
    return pass;
}

enum status cpu_blur_finish(const struct cpu_context *context, const struct blur_plan *plan,
                            const struct image *source, const struct image *target,
                            const struct blur_finish *finish, struct error *err) {
    struct blur_jobs jobs;
    enum status status = blur_jobs_init(&jobs, context, plan, source, target, finish, err);
    unsigned stages = 0;
    for (unsigned i = 0; status == ST_OK && i < jobs.count; i++) {
        stages = jobs.plane[i].stages > stages ? jobs.plane[i].stages : stages;
    }
    for (unsigned i = 0; i <= stages && status == ST_OK; i++) {
        const struct blur_pass own = {&jobs, i < stages, i};
        const struct pass pass = make_pass(&own, context);
        status = run_pass(context, &pass, i == 0 ? context->producer : NULL, err);
    }
    return status;
}

enum status cpu_blur(const struct cpu_context *context, const struct blur_plan *plan,
                     const struct image *source, const struct image *target, struct error *err) {
    return cpu_blur_finish(context, plan, source, target, NULL, err);
}

struct scratch_need cpu_blur_need(const struct row_set *rows, const struct blur_plan *plan,
                                  const struct image *source, bool finishes) {
    return blur_jobs_need(rows, plan, source, finishes);
}
