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
#include "filters/blur/cpu/blur.h"
#include "filters/blur/cpu/blur_job.h"
#include "filters/blur/cpu/blur_rows.h"

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
        blur_rows_reduce(&lines, pass->stage, band->from, band->to);
    } else {
        blur_rows_last(&lines, band->from, band->to);
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

static enum status run(const struct cpu_context *context, const void *plan, const struct image *source,
                       const struct image *target, struct error *err) {
    return cpu_blur(context, plan, source, target, err);
}

static struct scratch_need need(const struct row_set *rows, const void *plan, const struct image *source) {
    return cpu_blur_need(rows, plan, source, false);
}

static bool reports(const void *plan) {
    (void)plan;
    return true;
}

const struct cpu_filter cpu_filter_blur = {.run = run, .need = need, .reports = reports, .follows = true};
