/* SPDX-License-Identifier: MIT
 * Runs a chain of filters in the device memory of a stream. Inside the engine process only. */
#ifndef BLURD_GPU_FILTERS_GPU_CHAIN_H
#define BLURD_GPU_FILTERS_GPU_CHAIN_H

#include "filters/chain.h"
#include "gpu/stream/stream.h"

/* A run with its pictures on the device. */
struct gpu_chain {
    const struct chain_run *run;                /* the host's pictures, or only their layouts */
    size_t source_size, target_size, mask_size; /* bytes; 0: no mask */
    size_t turned_size; /* bytes in stream->source of a picture to turn into stream->target; 0: none */
    bool keeps;         /* the source must stay as it is; a run with a mask keeps it anyway */
    bool present;       /* stream->source holds the source already, and loses it when it must grow */
    struct image source, result; /* on the device; result: output of the last step */
    struct image mask;
};

/* The picture with its memory at `data` on the device. */
struct image gpu_chain_image(const struct image *like, CUdeviceptr data);

/* What the device has to do for a picture of this shape. */
struct hang_detector_work gpu_chain_work(const struct chain *chain, const struct image_shape *source);

/* Reserves the stream's buffers for the run, and fills in the sizes. Status as of gpu_buffer_reserve. */
enum status gpu_chain_reserve(struct gpu_chain *chain, struct gpu_stream *stream, struct error *err);

/* Enqueues all steps from chain->source, in stream->source or turned into stream->target, to chain->result.
 * Status as of gpu_chain_run. */
enum status gpu_chain_enqueue(struct gpu_chain *chain, struct gpu_stream *stream, struct error *err);

/* Uploads, runs the chain, downloads and waits. The images lie in host memory as image_layout() lays them
 * out, best registered with the driver; run->slot is not used. The rules of lane_run (filters/backend.h)
 * hold. ST_BUSY without device memory (not sticky), else ST_DEVICE, also when the device has stopped
 * (gpu/cuda/hang_detector.h): it may then still write to the target. */
enum status gpu_chain_run(struct gpu_stream *stream, const struct chain_run *run, struct lane_timing *timing,
                          struct error *err);

#endif
