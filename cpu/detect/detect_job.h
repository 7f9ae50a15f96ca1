/* SPDX-License-Identifier: MIT
 * A search of one picture, and how its passes (cpu/detect/detect_tensors.h) are run: row by row, within a
 * range of columns. A pass is a *line* of stages, one for each layer. A stage asks the one before it for the
 * rows that it reads, so that of the layers within a pass only these rows exist at a time. */
#ifndef BLURD_CPU_DETECT_DETECT_JOB_H
#define BLURD_CPU_DETECT_DETECT_JOB_H

#include "core/bytes.h"
#include "core/image.h"
#include "cpu/detect/detect_pack.h"
#include "cpu/detect/detect_rows.h"
#include "cpu/detect/detect_tensors.h"

struct detect_sink; /* cpu/detect/detect_sink.h */

struct detect_job {
    const struct network *form;
    const struct detect_network *network; /* NULL: only sizes are computed */
    const struct image *source;
    uint32_t border; /* struct detector */
    struct detect_passes passes;
    struct detect_tensor tensors[NETWORK_LAYERS_MAX];
    uint8_t *memory; /* of all tensors */
    struct detect_sink *sink;
    /* The results of a network that makes no sums, by output; NULL: it is not wanted. */
    const struct image *map[NETWORK_OUTPUTS_MAX];
    _Atomic uint64_t *channel_sums[NETWORK_LAYERS_MAX]; /* of what EXCITE layers read; NULL: of none */
    float *factors[NETWORK_LAYERS_MAX];                 /* of EXCITE layers */
};

/* Memory of a thread for a pass. With begin == NULL only `used` counts. */
struct detect_memory {
    uint8_t *begin;
    size_t used;
};

/* A layer within a pass. */
struct detect_stage {
    const struct detect_job *job;
    const struct network_layer *form;
    int layer;
    int before; /* the layer of the stage before this one; NETWORK_NONE: this is the first */
    struct detect_columns made;
    struct detect_ring ring; /* of what a window reads */
    uint8_t *row;            /* outputs, for the stage behind this one */
    uint8_t *enlarged;       /* an addend of half the size */
    uint8_t *pixels;         /* of the picture in a row, where it is mirrored */
};

/* All of a pass, for a thread. */
struct detect_line {
    int32_t *sums;          /* a row of the heads; NULL: the pass ends with another layer */
    uint32_t *channel_sums; /* of the last layer in a row; NULL: no EXCITE reads it */
    uint64_t *all_sums;     /* since detect_job_flush */
    unsigned count;
    struct detect_stage stage[DETECT_STAGES_MAX];
};

/* Takes the memory for at most so many columns of the result of a pass. The line is all zero before. */
void detect_job_place(struct detect_line *line, const struct detect_job *job, const struct detect_pass *pass,
                      uint32_t columns, struct detect_memory *memory);

/* Begins with other columns. */
void detect_job_begin(struct detect_line *line, struct detect_columns columns);

/* Makes a row of the result. Rows after the one before need less work. */
void detect_job_row(struct detect_line *line, uint32_t y);

/* Adds the sums of the rows since the last call to the job's. */
void detect_job_flush(struct detect_line *line);

#endif
