/* SPDX-License-Identifier: MIT
 * Adjustments work on pixels alone: a band is adjusted row by row. */
#include "cpu/filters/filters.h"

#include <string.h>

#include "cpu/bands.h"

struct adjustment {
    const struct row_set *rows;
    const struct adjust_plan *plan;
    const struct image *source;
    const struct image *target;
};

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
static struct adjust_row row_of(const struct adjustment *all, unsigned plane) {
    const struct adjust_plan *plan = all->plan;
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

static void adjust_band(const void *context, const struct band *band) {
    const struct adjustment *all = context;
    const struct plane *source = &all->source->plane[band->plane];
    const struct adjust_row row = row_of(all, band->plane);
    const bool copy = is_copy(&row);
    for (uint32_t y = band->from; y < band->to; y++) {
        uint8_t *to = plane_row(&all->target->plane[band->plane], y);
        if (copy) {
            memcpy(to, plane_row(source, y), plane_row_bytes(source, row.depth));
        } else {
            all->rows->filter.adjust(to, plane_row(source, y), &row, source->width);
        }
    }
}

enum status cpu_adjust(const struct cpu_context *context, const struct adjust_plan *plan,
                       const struct image *source, const struct image *target, struct error *err) {
    struct adjustment all = {context->rows, plan, source, target};
    struct pass pass = {.band = adjust_band, .context = &all, .deadline_ns = context->deadline_ns};
    for (unsigned i = 0; i < target->plane_count; i++) {
        pass.rows[i] = target->plane[i].height;
        pass.cost[i] = (uint64_t)source->plane[i].width * source->plane[i].channels;
    }
    return bands_run(context->crew, bands_seats(context->crew, &pass, 0), &pass, err);
}
