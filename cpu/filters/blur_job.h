/* SPDX-License-Identifier: MIT
 * Everything that a blur works with: geometry, tables and memory. What all bands of a plane share does not
 * change while a pass runs, but for the rows that the pass makes; the rest is lent to a band with its seat.
 */
#ifndef BLURD_CPU_FILTERS_BLUR_JOB_H
#define BLURD_CPU_FILTERS_BLUR_JOB_H

#include "core/status.h"
#include "cpu/bands.h"
#include "cpu/filters/filters.h"
#include "cpu/grid.h"
#include "filters/extent.h"

enum { RING_ROWS = 4 };

/* The rows that a stage of the reduction works with. */
struct blur_stage_lines {
    struct grid mixed; /* one interleaved row before its channels are split */
    struct grid line;  /* one row with the margins that the horizontal taps need */
    struct grid last;  /* one row of the result, where what is written behind it would hit the next band */
};

/* The rows that a band works with. */
struct blur_lines {
    const struct blur_job *job;
    ptrdiff_t loaded;    /* floating point: rows below this position are in the ring `picture` */
    struct grid picture; /* shape of the source rows; in floating point a ring of loaded rows */
    struct blur_stage_lines stage[BLUR_STAGES_MAX];
    struct grid line;     /* a row of the low-resolution blur with its margins */
    struct grid blurred;  /* the same row, blurred, before enlargement */
    struct grid enlarged; /* the same row, enlarged, before its channels are merged */
    struct grid ring;     /* the enlarged rows that the vertical enlargement reads */
    struct grid last;     /* floating point: an output row before it is stored */
    struct grid spare;    /* a row for `finish` */
};

/* One plane. */
struct blur_job {
    const struct row_ops *ops;
    const struct blur_finish *finish; /* NULL: rows are stored as they are */
    const struct plane *source;
    const struct plane *target;
    struct sample_format format;
    unsigned border; /* sample outside the picture under EDGE_ZERO */
    struct extent x;
    struct extent y;
    unsigned stages;                  /* the more of both axes */
    struct grid outside;              /* a source row of the border colour */
    struct grid out[BLUR_STAGES_MAX]; /* the reduced pictures */
    struct blur_lines lines;          /* the layout of a band's */
    const struct cubic *cubic_x;
    const struct cubic *cubic_y;
};

struct blur_jobs {
    unsigned count;
    unsigned seats;
    struct blur_job plane[IMAGE_PLANES_MAX];
    uint8_t *memory; /* of lines: `size` bytes a seat */
    size_t size;
    struct cubic cubic[3]; /* [s]: of axes reduced by 1 << s */
};

static inline bool blur_job_is_float(const struct blur_job *job) {
    return job->ops->load != NULL;
}

/* What stage i makes, in rows and samples filtered for each; i may be job->stages: what the blur itself
 * makes, where a row is one of the low-resolution picture. */
uint32_t blur_job_rows(const struct blur_job *job, unsigned i);
uint64_t blur_job_cost(const struct blur_job *job, unsigned i);

/* Prepares the blur of `source` into `target`, with `finish` (NULL: none). The memory is that of the scratch,
 * until its next use. ST_BUSY without memory. */
enum status blur_jobs_init(struct blur_jobs *jobs, const struct cpu_context *context,
                           const struct blur_plan *plan, const struct image *source,
                           const struct image *target, const struct blur_finish *finish, struct error *err);

/* What the blur of a picture that is laid out like `source` (memory or none) works in; `finishes`: with an
 * end of its own. */
struct scratch_need blur_jobs_need(const struct row_set *rows, const struct blur_plan *plan,
                                   const struct image *source, bool finishes);

/* The rows of a band of the plane: those of its seat. */
struct blur_lines blur_jobs_lines(const struct blur_jobs *jobs, const struct band *band);

#endif
