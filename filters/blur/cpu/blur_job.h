/* SPDX-License-Identifier: MIT
 * Geometry, tables and memory of a blur. The part that all bands of a plane share does not change while a
 * pass runs, except for the rows that the pass makes; the rest belongs to a seat. */
#ifndef BLURD_FILTERS_BLUR_CPU_BLUR_JOB_H
#define BLURD_FILTERS_BLUR_CPU_BLUR_JOB_H

#include "core/status.h"
#include "cpu/bands.h"
#include "cpu/filter.h"
#include "cpu/grid.h"
#include "filters/blur/extent.h"

/* The last step of filters that are made of a blur. */
struct blur_finish {
    /* Makes a row of the target from one of the source and the blurred one, which is unrounded, has its
     * colour multiplied by alpha, and may be changed. `spare` is a row of floats. Called on several threads
     * at a time. */
    void (*row)(const void *context, void *to, const void *from, float *blurred, float *spare,
                const struct row_format *format, size_t pixels);
    const void *context;
};

enum {
    RING_ROWS = 4,
    STRIP_PIXELS =
        256, /* stored at a time: they and the rows that they are made of stay in the nearest cache */
};

/* The rows that a stage of the reduction works with. */
struct blur_stage_lines {
    struct grid mixed; /* one interleaved row before its channels are split */
    struct grid line;  /* one row with the margins that the horizontal taps need */
    struct grid last;  /* one row of the result; row functions write beyond its end */
};

/* The rows that a band works with. */
struct blur_lines {
    const struct blur_job *job;
    ptrdiff_t loaded;    /* rows below this position are in the ring `picture` */
    struct grid picture; /* a ring of source rows; without `loads` only their shape */
    struct blur_stage_lines stage[BLUR_STAGES_MAX];
    struct grid line;     /* a row of the low-resolution blur with its margins, or a group of them */
    struct grid blurred;  /* the same rows, blurred, before enlargement */
    struct grid enlarged; /* the same row, enlarged, before its channels are merged */
    struct grid ring;     /* the enlarged rows that the vertical enlargement reads */
    struct grid last;     /* floating point: output rows, or parts of them, before they are stored */
    struct grid spare;    /* a row for `finish` */
};

struct blur_job {
    const struct row_ops *ops;
    const struct blur_finish *finish; /* NULL: rows are stored as they are */
    const struct cpu_row_done *done;  /* NULL: not told */
    unsigned plane;
    const struct plane *source;
    const struct plane *target;
    struct row_format format;
    bool loads;      /* rows of the picture are no source rows yet */
    bool values;     /* the source is values */
    unsigned border; /* sample outside the picture under EDGE_ZERO */
    struct extent x;
    struct extent y;
    unsigned stages;                  /* of the axis that has more */
    struct grid outside;              /* a source row of the border colour */
    struct grid out[BLUR_STAGES_MAX]; /* the reduced pictures */
    struct blur_lines lines;          /* layout of the lines of a band */
    const struct cubic *cubic_x;
    const struct cubic *cubic_y;
};

struct blur_jobs {
    unsigned count;
    unsigned seats;
    struct blur_job plane[IMAGE_PLANES_MAX];
    uint8_t *memory; /* lines, `size` bytes a seat */
    size_t size;
    struct cubic cubic[3]; /* [s]: for axes reduced by 1 << s */
};

static inline bool blur_job_is_float(const struct blur_job *job) {
    return job->ops->load != NULL;
}

/* Rows that the taps of the last pass make at once. */
static inline unsigned blur_job_group(const struct blur_job *job) {
    enum { RADIUS_LEAST = 4 }; /* in fixed point, where fewer taps are no faster in a group */
    bool alike = (job->x.stages > 0) == (job->y.stages > 0);
    bool direct = job->ops->taps_group_source && job->stages == 0 && job->y.axis->radius >= RADIUS_LEAST;
    return (blur_job_is_float(job) && alike) || direct ? TAPS_GROUP : 1;
}

/* Rows that stage i makes, and samples filtered for each; i == job->stages is the low-resolution blur. */
uint32_t blur_job_rows(const struct blur_job *job, unsigned i);
uint64_t blur_job_cost(const struct blur_job *job, unsigned i);

/* Prepares the blur of `source` into `target`, with `finish` (NULL: none). Its memory is that of the scratch,
 * and is valid until the next use of the scratch. ST_BUSY without memory. */
enum status blur_jobs_init(struct blur_jobs *jobs, const struct cpu_context *context,
                           const struct blur_plan *plan, const struct image *source,
                           const struct image *target, const struct blur_finish *finish, struct error *err);

/* Working memory of the blur of a picture laid out like `source`, which needs no memory. `finishes`: for
 * cpu_blur_finish. */
struct scratch_need blur_jobs_need(const struct row_set *rows, const struct blur_plan *plan,
                                   const struct image *source, bool finishes);

/* The lines of the band's seat, for its plane. */
struct blur_lines blur_jobs_lines(const struct blur_jobs *jobs, const struct band *band);

#endif
