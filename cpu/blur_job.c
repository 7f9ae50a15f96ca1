/* SPDX-License-Identifier: MIT */
#include "cpu/blur_job.h"

#include <stdint.h>
#include <string.h>

/* The rows that the first vertical pass reads at once. */
static size_t source_rows(const struct job *job) {
    unsigned radius = job->y.stages ? job->y.stage[0].radius : job->stages ? 0 : job->y.axis->radius;
    return 2 * radius + 1;
}

static struct grid stage_layout(struct job *job, unsigned i, const struct grid *from, size_t value) {
    struct stage_grids *stage = &job->stage[i];
    bool reduces = i < job->x.stages;
    bool splits = reduces && from->step > 1;
    struct span row = {0, 0};
    unsigned segments = splits ? from->step : from->segments;
    unsigned step = splits ? 1 : from->step;
    stage->mixed = splits ? grid_make(from->x, row, value, 1, from->step) : (struct grid){0};
    stage->line =
        reduces ? grid_make(extent_needed(&job->x, i), row, value, segments, step) : (struct grid){0};
    stage->out = grid_make(job->x.span[i + 1], job->y.span[i + 1], value, segments, step);
    return stage->out;
}

static void layout(struct job *job) {
    size_t value = job->ops->value;
    unsigned channels = job->source->channels;
    struct span row = {0, 0};
    struct span all = {0, (ptrdiff_t)job->source->width - 1};
    struct span ring = {0, (ptrdiff_t)source_rows(job) - 1};
    job->picture = grid_make(all, ring, job_is_real(job) ? value : 1, 1, channels);
    job->outside = grid_make(all, row, job_is_real(job) ? value : 1, 1, channels);
    struct grid from = job->picture;
    for (unsigned i = 0; i < job->stages; i++) {
        from = stage_layout(job, i, &from, value);
    }
    ptrdiff_t radius = job->x.axis->radius;
    struct span reach = {job->x.blurred.lo - radius, job->x.blurred.hi + radius};
    job->line = grid_make(reach, row, value, from.segments, from.step);
    job->blurred = grid_make(job->x.blurred, row, value, from.segments, from.step);
    job->enlarged = grid_make(all, row, value, from.segments, 1);
    /* What is written behind a row of the ring would hit one that is still needed. */
    struct span wide = {0, all.hi + ROW_SLACK};
    job->ring = grid_make(wide, (struct span){0, RING_ROWS - 1}, value, 1, channels);
    job->last = grid_make(all, row, value, 1, channels);
}

/* Gives the grids that this job uses their memory; returns the bytes. */
static size_t place(struct job *job, uint8_t *memory) {
    size_t offset = 0;
    if (job_is_real(job)) {
        grid_place(&job->picture, memory, &offset);
        grid_place(&job->last, memory, &offset);
    }
    grid_place(&job->outside, memory, &offset);
    for (unsigned i = 0; i < job->stages; i++) {
        struct stage_grids *stage = &job->stage[i];
        if (stage->mixed.stride) {
            grid_place(&stage->mixed, memory, &offset);
        }
        if (stage->line.stride) {
            grid_place(&stage->line, memory, &offset);
        }
        grid_place(&stage->out, memory, &offset);
    }
    grid_place(&job->line, memory, &offset);
    if (job->x.stages) {
        grid_place(&job->blurred, memory, &offset);
        grid_place(&job->enlarged, memory, &offset);
    }
    if (job->y.stages) {
        grid_place(&job->ring, memory, &offset);
    }
    return offset;
}

static void fill_cubic(struct cubic *cubic, unsigned levels) {
    cubic->levels = levels;
    for (unsigned phase = 0; phase < 1u << levels; phase++) {
        int16_t weight[BLUR_TAPS_ENLARGE];
        float real[BLUR_TAPS_ENLARGE];
        blur_enlarge(levels, phase, weight, real);
        for (unsigned k = 0; k < BLUR_TAPS_ENLARGE; k++) {
            cubic->pair[k / 2][phase][k % 2] = weight[k];
            cubic->real[k][phase] = real[k];
        }
    }
}

/* The row that stands for everything above and below under EDGE_ZERO. In real arithmetic the border is
 * always 0, as only 8-bit YCbCr has another. */
static void fill_outside(struct job *job) {
    memset(job->outside.first, (int)job->border, job->outside.stride);
}

enum status job_init(struct job *job, const struct row_set *rows, struct scratch *scratch,
                     const struct blur_plan *plan, const struct image *source, const struct image *target,
                     const struct blur_finish *finish, unsigned index, struct error *err) {
    const struct plane *plane = &source->plane[index];
    bool alpha = pixel_has_alpha(source->model);
    memset(job, 0, offsetof(struct job, cubic_x));
    job->ops = source->depth == 8 && !alpha && !finish ? &rows->whole : &rows->real;
    job->finish = finish;
    job->source = plane;
    job->target = &target->plane[index];
    job->format = (struct sample_format){plane->channels, source->depth, alpha};
    job->border = blur_border(source->model, index);
    job->loaded = PTRDIFF_MIN;
    extent_init(&job->x, &plan->axis[plane->shift_x], plan->edge, plane->width);
    extent_init(&job->y, &plan->axis[plane->shift_y], plan->edge, plane->height);
    job->stages = job->x.stages > job->y.stages ? job->x.stages : job->y.stages;
    layout(job);
    enum status status = scratch_reserve(scratch, place(job, NULL), err);
    if (status != ST_OK) {
        return status;
    }
    place(job, scratch->memory);
    fill_outside(job);
    fill_cubic(&job->cubic_x, job->x.axis->levels);
    fill_cubic(&job->cubic_y, job->y.axis->levels);
    return ST_OK;
}
