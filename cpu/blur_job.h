/* SPDX-License-Identifier: MIT
 * Everything that the blur of one plane works with: geometry, tables and memory. */
#ifndef BLURD_CPU_BLUR_JOB_H
#define BLURD_CPU_BLUR_JOB_H

#include "core/status.h"
#include "cpu/blur.h"
#include "cpu/grid.h"
#include "cpu/rows.h"
#include "cpu/scratch.h"
#include "filters/extent.h"

enum { RING_ROWS = 4 };

/* What one stage of the reduction works with. */
struct stage_grids {
    struct grid mixed; /* one interleaved row before its channels are split */
    struct grid line;  /* one row with the margins that the horizontal taps need */
    struct grid out;   /* the reduced picture */
};

struct job {
    const struct row_ops *ops;
    const struct blur_finish *finish; /* NULL: rows are stored as they are */
    const struct plane *source;
    const struct plane *target;
    struct sample_format format;
    unsigned border; /* sample outside the picture under EDGE_ZERO */
    struct extent x;
    struct extent y;
    unsigned stages;     /* the more of both axes */
    ptrdiff_t loaded;    /* real arithmetic: rows below this position are in the ring `picture` */
    struct grid picture; /* shape of the source rows; in real arithmetic a ring of loaded rows */
    struct grid outside; /* a source row of the border colour */
    struct stage_grids stage[BLUR_STAGES_MAX];
    struct grid line;     /* a row of the low-resolution blur with its margins */
    struct grid blurred;  /* the same row, blurred, before enlargement */
    struct grid enlarged; /* the same row, enlarged, before its channels are merged */
    struct grid ring;     /* the enlarged rows that the vertical enlargement reads */
    struct grid last;     /* real arithmetic: an output row before it is stored */
    struct cubic cubic_x;
    struct cubic cubic_y;
};

static inline bool job_is_real(const struct job *job) {
    return job->ops->load != NULL;
}

/* Prepares the blur of plane `index` of source into that of target, with `finish` (NULL: none). The memory is
 * that of `scratch`, until its next use. ST_BUSY without memory. */
enum status job_init(struct job *job, const struct row_set *rows, struct scratch *scratch,
                     const struct blur_plan *plan, const struct image *source, const struct image *target,
                     const struct blur_finish *finish, unsigned index, struct error *err);

#endif
