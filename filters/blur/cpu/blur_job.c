/* SPDX-License-Identifier: MIT */
#include "filters/blur/cpu/blur_job.h"

#include <stdint.h>
#include <string.h>

enum { FLOAT_COST = 2 }; /* a sample in floating point, relative to fixed point */

/* The rows that the first vertical pass reads at once. */
static size_t source_rows(const struct blur_job *job) {
    unsigned radius = job->y.stages ? job->y.stage[0].radius : job->stages ? 0 : job->y.axis->radius;
    return 2 * radius + (job->stages ? 1 : blur_job_group(job));
}

static struct grid stage_layout(struct blur_job *job, unsigned i, const struct grid *from, size_t value) {
    struct blur_stage_lines *stage = &job->lines.stage[i];
    bool reduces = i < job->x.stages;
    bool splits = reduces && from->step > 1 && job->ops->split;
    struct span row = {0, 0};
    unsigned segments = splits ? from->step : from->segments;
    unsigned step = splits ? 1 : from->step;
    stage->mixed = splits ? grid_make(from->x, row, value, 1, from->step) : (struct grid){0};
    stage->line =
        reduces ? grid_make(extent_needed(&job->x, i), row, value, segments, step) : (struct grid){0};
    stage->last = grid_make(job->x.span[i + 1], row, value, segments, step);
    job->out[i] = grid_make(job->x.span[i + 1], job->y.span[i + 1], value, segments, step);
    return job->out[i];
}

static void layout(struct blur_job *job) {
    struct blur_lines *lines = &job->lines;
    size_t value = job->ops->value;
    unsigned channels = job->source->channels;
    struct span row = {0, 0};
    struct span all = {0, (ptrdiff_t)job->source->width - 1};
    struct span ring = {0, (ptrdiff_t)source_rows(job) - 1};
    size_t source = job->values ? value : value / 2; /* bytes of a source value */
    lines->picture = grid_make(all, ring, source, 1, channels);
    job->outside = grid_make(all, row, source, 1, channels);
    struct grid from = lines->picture;
    for (unsigned i = 0; i < job->stages; i++) {
        from = stage_layout(job, i, &from, value);
    }
    ptrdiff_t radius = job->x.axis->radius;
    struct span reach = {job->x.blurred.lo - radius, job->x.blurred.hi + radius};
    struct span group = {0, (ptrdiff_t)blur_job_group(job) - 1};
    lines->line = grid_make(reach, group, value, from.segments, from.step);
    lines->blurred = grid_make(job->x.blurred, group, value, from.segments, from.step);
    lines->line.stride += ROW_BLOCK * value; /* row functions write there while they make a group */
    lines->blurred.stride += ROW_BLOCK * value;
    lines->enlarged = grid_make(all, row, value, from.segments, 1);
    /* Row functions write beyond the end of a ring row and would overwrite the next row. */
    struct span wide = {0, all.hi + ROW_SLACK};
    lines->ring = grid_make(wide, (struct span){0, RING_ROWS - 1}, value, 1, channels);
    lines->last = grid_make(all, row, value, 1, channels);
    size_t strips = TAPS_GROUP * (STRIP_PIXELS * (size_t)channels + ROW_BLOCK) * value;
    lines->last.stride = lines->last.stride < strips ? strips : lines->last.stride;
    lines->spare = grid_make(all, row, value, 1, channels);
}

/* Places the memory that the bands share; returns the bytes. */
static size_t place_shared(struct blur_job *job, uint8_t *memory) {
    size_t offset = 0;
    grid_place(&job->outside, memory, &offset);
    for (unsigned i = 0; i < job->stages; i++) {
        grid_place(&job->out[i], memory, &offset);
    }
    return offset;
}

/* Places the lines that this job uses; returns the bytes. */
static size_t place_lines(const struct blur_job *job, struct blur_lines *lines, uint8_t *memory) {
    size_t offset = 0;
    if (job->loads) {
        grid_place(&lines->picture, memory, &offset);
    }
    if (blur_job_is_float(job)) {
        grid_place(&lines->last, memory, &offset);
    }
    for (unsigned i = 0; i < job->stages; i++) {
        struct blur_stage_lines *stage = &lines->stage[i];
        if (stage->mixed.stride) {
            grid_place(&stage->mixed, memory, &offset);
        }
        if (stage->line.stride) {
            grid_place(&stage->line, memory, &offset);
        }
        grid_place(&stage->last, memory, &offset);
    }
    grid_place(&lines->line, memory, &offset);
    if (job->x.stages) {
        grid_place(&lines->blurred, memory, &offset);
        if (lines->enlarged.segments > 1) {
            grid_place(&lines->enlarged, memory, &offset);
        }
    }
    if (job->y.stages) {
        grid_place(&lines->ring, memory, &offset);
    }
    if (job->finish) {
        grid_place(&lines->spare, memory, &offset);
    }
    return offset;
}

static void fill_cubic(struct cubic *cubic, unsigned levels) {
    cubic->levels = levels;
    for (unsigned phase = 0; phase < 1u << levels; phase++) {
        int16_t weight[BLUR_TAPS_ENLARGE];
        float weight_float[BLUR_TAPS_ENLARGE];
        blur_enlarge(levels, phase, weight, weight_float);
        for (unsigned k = 0; k < BLUR_TAPS_ENLARGE; k++) {
            cubic->pair[k / 2][phase][k % 2] = weight[k];
            cubic->weight_float[k][phase] = weight_float[k];
        }
    }
}

/* Every row above and below under EDGE_ZERO. In floating point the border is always 0, as only 8-bit YCbCr
 * has another. */
static void fill_outside(struct blur_job *job) {
    memset(job->outside.first, (int)job->border, job->outside.stride);
}

static void blur_job_init(struct blur_job *job, const struct blur_jobs *jobs, const struct row_set *rows,
                          const struct blur_plan *plan, const struct image *source,
                          const struct image *target, unsigned index) {
    const struct plane *plane = &source->plane[index];
    bool alpha = image_pixel_has_alpha(source->model);
    job->ops = source->depth == 8 && !alpha && !job->finish ? &rows->fixed : &rows->floating;
    job->values = blur_job_is_float(job) && source->depth == 16 && alpha;
    job->loads = blur_job_is_float(job) && (source->depth == 8 || alpha);
    job->source = plane;
    job->target = &target->plane[index];
    job->format = (struct row_format){plane->channels, source->depth, alpha};
    job->border = blur_border(source->model, index);
    job->cubic_x = &jobs->cubic[plane->shift_x];
    job->cubic_y = &jobs->cubic[plane->shift_y];
    extent_init(&job->x, &plan->axis[plane->shift_x], plan->edge, plane->width);
    extent_init(&job->y, &plan->axis[plane->shift_y], plan->edge, plane->height);
    job->stages = job->x.stages > job->y.stages ? job->x.stages : job->y.stages;
    layout(job);
}

uint32_t blur_job_rows(const struct blur_job *job, unsigned i) {
    return i < job->stages      ? (uint32_t)span_length(job->out[i].y)
           : job->y.stages == 0 ? job->source->height
                                : ((job->source->height - 1) >> job->y.axis->levels) + 1;
}

uint64_t blur_job_cost(const struct blur_job *job, unsigned i) {
    const struct grid *from = i == 0 || i >= job->stages ? &job->lines.picture : &job->out[i - 1];
    uint64_t samples = span_length(from->x) * from->step * from->segments;
    unsigned shift = i >= job->stages ? job->y.axis->levels : i < job->y.stages ? job->y.stage[i].shift : 0;
    return (samples << shift) * (blur_job_is_float(job) ? FLOAT_COST : 1);
}

/* Seats for the largest pass, which is the first one. */
static unsigned choose_seats(const struct blur_jobs *jobs, struct crew *crew) {
    struct pass pass = {.band = NULL};
    for (unsigned i = 0; i < jobs->count; i++) {
        pass.rows[i] = blur_job_rows(&jobs->plane[i], 0);
        pass.cost[i] = blur_job_cost(&jobs->plane[i], 0);
    }
    return bands_seats(crew, &pass, jobs->size);
}

/* Returns the bytes of the shared part; the seats' parts follow it. */
static size_t place(struct blur_jobs *jobs, uint8_t *memory) {
    size_t offset = 0;
    for (unsigned i = 0; i < jobs->count; i++) {
        struct blur_job *job = &jobs->plane[i];
        struct blur_lines lines = job->lines;
        size_t size = place_lines(job, &lines, NULL);
        jobs->size = size > jobs->size ? size : jobs->size;
        offset += place_shared(job, memory ? memory + offset : NULL);
    }
    jobs->memory = memory ? memory + offset : NULL;
    return offset;
}

static void fill_tables(struct blur_jobs *jobs, const struct blur_plan *plan, const struct image *source) {
    unsigned wanted = 0; /* bit s: reductions by 1 << s occur */
    for (unsigned i = 0; i < jobs->count; i++) {
        fill_outside(&jobs->plane[i]);
        wanted |= 1u << source->plane[i].shift_x | 1u << source->plane[i].shift_y;
    }
    for (unsigned shift = 0; shift < sizeof jobs->cubic / sizeof jobs->cubic[0]; shift++) {
        if (wanted & 1u << shift) {
            fill_cubic(&jobs->cubic[shift], plan->axis[shift].levels);
        }
    }
}

static struct scratch_need blur_jobs_layout(struct blur_jobs *jobs, const struct row_set *rows,
                                            const struct blur_plan *plan, const struct image *source,
                                            const struct image *target, const struct blur_finish *finish) {
    memset(jobs, 0, offsetof(struct blur_jobs, cubic));
    jobs->count = source->plane_count;
    for (unsigned i = 0; i < jobs->count; i++) {
        jobs->plane[i].finish = finish;
        blur_job_init(&jobs->plane[i], jobs, rows, plan, source, target, i);
    }
    size_t shared = place(jobs, NULL);
    return (struct scratch_need){shared, jobs->size};
}

struct scratch_need blur_jobs_need(const struct row_set *rows, const struct blur_plan *plan,
                                   const struct image *source, bool finishes) {
    static const struct blur_finish any;
    struct blur_jobs jobs;
    return blur_jobs_layout(&jobs, rows, plan, source, source, finishes ? &any : NULL);
}

enum status blur_jobs_init(struct blur_jobs *jobs, const struct cpu_context *context,
                           const struct blur_plan *plan, const struct image *source,
                           const struct image *target, const struct blur_finish *finish, struct error *err) {
    const struct scratch_need need = blur_jobs_layout(jobs, context->rows, plan, source, target, finish);
    jobs->seats = choose_seats(jobs, context->crew);
    enum status status = scratch_seats(context->scratch, &need, &jobs->seats, err);
    if (status != ST_OK) {
        return status;
    }
    for (unsigned i = 0; i < jobs->count; i++) {
        jobs->plane[i].done = context->done;
        jobs->plane[i].plane = i;
    }
    place(jobs, context->scratch->memory);
    fill_tables(jobs, plan, source);
    return ST_OK;
}

struct blur_lines blur_jobs_lines(const struct blur_jobs *jobs, const struct band *band) {
    const struct blur_job *job = &jobs->plane[band->plane];
    struct blur_lines lines = job->lines;
    lines.job = job;
    lines.loaded = PTRDIFF_MIN;
    place_lines(job, &lines, jobs->memory + band->seat * jobs->size);
    return lines;
}
