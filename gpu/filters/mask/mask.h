/* SPDX-License-Identifier: MIT
 * The mask of a JPEG and its redaction on the device (filters/mask/mask_plan.h). Inside the engine process
 * only. */
#ifndef BLURD_GPU_FILTERS_MASK_MASK_H
#define BLURD_GPU_FILTERS_MASK_MASK_H

#include "filters/mask/mask_plan.h"
#include "gpu/stream/stream.h"

/* The memory of one stream for it; zero-initialise. */
struct gpu_mask {
    struct gpu_buffer memory;
};

/* A plan with its data. The host's memory must stay unchanged until the stream has read it. */
struct gpu_mask_job {
    const struct mask_plan *plan;
    const struct mask_plan_rect *rects; /* and rings */
    const uint8_t *weights;             /* as image_layout() lays out the mask; NULL: none */
    uint8_t orientation; /* by which the mask is turned upright before it is feathered; 1: not at all */
};

/* Reserves memory for planes of this shape. Status as of gpu_buffer_reserve. */
enum status gpu_mask_reserve(struct gpu_mask *mask, struct gpu_stream *stream, const struct gpu_mask_job *job,
                             const struct image_shape *shape, struct error *err);

/* Enqueues the redaction of `picture`, planes on the device, in place, and then the drawing of the mask.
 * Fills *coverage, the upright mask on the device, if the plan masks. Uses the stream's buffer `mask`.
 * ST_DEVICE when the device fails. */
enum status gpu_mask_enqueue(struct gpu_mask *mask, struct gpu_stream *stream, const struct gpu_mask_job *job,
                             const struct image *picture, struct image *coverage, struct error *err);

#endif
