/* SPDX-License-Identifier: MIT
 * A search for faces in one picture, and how its passes (cpu/detect/detect_tensors.h) are run: row by row,
 * within a range of columns. */
#ifndef BLURD_CPU_DETECT_DETECT_JOB_H
#define BLURD_CPU_DETECT_DETECT_JOB_H

#include "core/bytes.h"
#include "core/image.h"
#include "cpu/detect/detect_pack.h"
#include "cpu/detect/detect_rows.h"
#include "cpu/detect/detect_tensors.h"

struct detect_sink; /* cpu/detect/detect_sink.h */

struct detect_job {
    const struct detect_network *network; /* NULL: only sizes are computed */
    const struct image *source;
    struct detect_tensor tensors[FACE_LAYERS];
    uint8_t *memory; /* of all tensors */
    struct detect_sink *sink;
};

/* Memory of a thread for a pass. With begin == NULL only `used` counts. */
struct detect_memory {
    uint8_t *begin;
    size_t used;
};

static inline uint8_t *detect_job_take(struct detect_memory *memory, size_t bytes) {
    uint8_t *taken = memory->begin ? memory->begin + memory->used : NULL;
    memory->used += bytes_align_up(bytes + DETECT_SLACK, IMAGE_ALIGNMENT);
    return taken;
}

/* A pixel of the output of a layer that is kept. */
static inline uint8_t *detect_job_pixel(const struct detect_job *job, int layer, uint32_t y, uint32_t x) {
    const struct detect_tensor *tensor = &job->tensors[layer];
    return job->memory + tensor->offset + y * tensor->stride +
           (size_t)x * (size_t)detector_faces.network->layer[layer].outputs;
}

enum { DETECT_STATE_BYTES = 896 };

/* A kind of pass. Its state has DETECT_STATE_BYTES, all zero before `place`. */
struct detect_runner {
    /* Takes the memory for at most so many columns of the result. */
    void (*place)(void *state, const struct detect_job *job, const struct detect_pass *pass, uint32_t columns,
                  struct detect_memory *memory);
    /* Begins with other columns. */
    void (*begin)(void *state, struct detect_columns columns);
    /* Makes a row of the result. Rows after the one before need less work. */
    void (*row)(void *state, uint32_t y);
};

extern const struct detect_runner detect_runner_first; /* cpu/detect/detect_block.c */
extern const struct detect_runner detect_runner_block;
extern const struct detect_runner detect_runner_point; /* cpu/detect/detect_neck.c */
extern const struct detect_runner detect_runner_neck;
extern const struct detect_runner detect_runner_heads;

#endif
