/* SPDX-License-Identifier: MIT
 * Adjustments work on pixels alone: a band is adjusted row by row. */
#include "filters/adjust/cpu/adjust.h"

#include <string.h>

#include "cpu/bands.h"
#include "cpu/filter.h"

/* Writes the matrix out for the samples of a row. */
static void spread(struct adjust_row *row) {
    unsigned channels = row->from + row->alpha;
    row->alone = true;
    for (unsigned i = 0; i < ADJUST_PERIOD; i++) {
        unsigned c = i % channels;
        row->weight[ADJUST_REACH][i] = 1; /* for alpha */
        for (unsigned k = 0; k < row->from && c < row->from; k++) {
            row->weight[ADJUST_REACH + k - c][i] = row->matrix[c][k];
            row->alone = row->alone && (k == c || row->matrix[c][k] == 0);
        }
        row->added[i] = c < row->from ? row->matrix[c][3] : 0;
    }
}

/* What row functions need for this plane. A plane of YCbCr is a grey picture with a matrix of its own. */
static struct adjust_row row_of(const struct adjustment *all, const struct adjust_plan *plan,
                                unsigned plane) {
    bool alpha = image_pixel_has_alpha(all->source->model);
    struct adjust_row row = {
        .depth = all->source->depth,
        .alpha = alpha,
        .from = all->source->plane[plane].channels - alpha,
        .to = all->target->plane[plane].channels - alpha,
        .curve = plan->curved ? plan->curve : NULL,
    };
    memcpy(row.matrix, plan->matrix, sizeof row.matrix);
    if (all->source->model == PIXEL_YCBCR) {
        row.matrix[0][0] = plan->matrix[plane][plane];
        row.matrix[0][3] = plan->matrix[plane][3];
    }
    if (row.from == row.to) {
        spread(&row);
    }
    return row;
}

/* Whether samples stay as they are, as the luma of a JPEG that becomes grey. */
static bool is_copy(const struct adjust_row *row) {
    bool same = row->from == row->to && row->alone && !row->curve;
    for (unsigned c = 0; c < row->from; c++) {
        same = same && row->matrix[c][c] == 1 && row->matrix[c][3] == 0;
    }
    return same;
}

void adjustment_init(struct adjustment *all, const struct row_set *rows, const struct adjust_plan *plan,
                     const struct image *source, const struct image *target) {
    *all = (struct adjustment){.rows = rows, .source = source, .target = target};
    for (unsigned i = 0; i < target->plane_count; i++) {
        all->row[i] = row_of(all, plan, i);
        all->copies[i] = is_copy(&all->row[i]);
    }
}

void adjustment_row(const void *context, unsigned plane, uint32_t y) {
    const struct adjustment *all = context;
    const struct plane *source = &all->source->plane[plane];
    const struct adjust_row *row = &all->row[plane];
    uint8_t *to = plane_row(&all->target->plane[plane], y);
    const uint8_t *from = plane_row(source, y);
    if (!all->copies[plane]) {
        all->rows->filter.adjust(to, from, row, source->width);
    } else if (to != from) {
        memcpy(to, from, plane_row_bytes(source, row->depth));
    }
}

static void adjust_band(const void *context, const struct band *band) {
    for (uint32_t y = band->from; y < band->to; y++) {
        adjustment_row(context, band->plane, y);
    }
}

/* The same rows of the picture are read and written. */
static uint32_t reach(const void *context, unsigned plane, uint32_t to) {
    const struct plane *source = &((const struct adjustment *)context)->source->plane[plane];
    return to < source->height ? to << source->shift_y : UINT32_MAX;
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct adjust_plan *plan = planned;
    struct adjustment all;
    struct pass pass = {.band = adjust_band,
                        .context = &all,
                        .least = 1,
                        .deadline_ns = context->deadline_ns,
                        .progress = context->progress,
                        .makes = reach};
    adjustment_init(&all, context->rows, plan, source, target);
    for (unsigned i = 0; i < target->plane_count; i++) {
        pass.rows[i] = target->plane[i].height;
        pass.cost[i] = (uint64_t)source->plane[i].width * source->plane[i].channels;
    }
    unsigned seats = bands_seats(context->crew, &pass, 0);
    if (context->producer || (context->progress && seats == 1)) {
        return bands_follow(context->crew, seats, &pass, reach, context->producer, err);
    }
    return bands_run(context->crew, seats, &pass, err);
}

const struct cpu_filter cpu_filter_adjust = {.run = run, .follows = true};
const struct cpu_filter cpu_filter_redact = {.run = run, .follows = true}; /* an adjustment, too */
