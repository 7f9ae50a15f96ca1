/* SPDX-License-Identifier: MIT
 * One stream of a GPU with its device memory, for one thread: upload, kernels, download,
 * one synchronisation. Buffers grow to a high-water mark; once warm, a run allocates
 * nothing. Inside the engine process only. */
#ifndef BLURD_GPU_LANE_H
#define BLURD_GPU_LANE_H

#include "core/backend.h"
#include "filters/chain.h"
#include "gpu/device.h"

struct gpu_buffer {
    CUdeviceptr data;
    size_t size;
};

struct gpu_lane {
    struct gpu_device *device;
    CUstream stream;
    CUevent begin, uploaded, filtered, done; /* with timing; `done` blocks the waiting thread */
    struct gpu_buffer source, target, scratch;
    struct gpu_buffer spare, mask; /* of runs with a mask: for chains, and the mask itself */
};

/* Creates stream and events on the current context. Finish after failure, too. */
enum status gpu_lane_init(struct gpu_lane *lane, struct gpu_device *device, struct error *err);
void gpu_lane_finish(struct gpu_lane *lane);

/* Runs the chain; the images lie in host memory as image_layout() lays them out, best registered with the
 * driver (run->slot is not used). As lane_run of core/backend.h: no overlap, source unchanged, target
 * undefined on failure. ST_BUSY without device memory (not sticky), ST_DEVICE for anything else. */
enum status gpu_lane_run(struct gpu_lane *lane, const struct run *run, struct lane_timing *timing,
                         struct error *err);

/* Enqueues one step; the images lie in device memory. `mask` (NULL: none) is looked at by statistics alone.
 * Status as of gpu_lane_run. */
enum status gpu_lane_step(struct gpu_lane *lane, const struct step *step, const struct image *source,
                          const struct image *mask, const struct image *target, struct error *err);

/* Device memory of at least `size` bytes for the kernels of one run, aligned to 256
 * bytes; what it held before is lost. */
enum status gpu_lane_scratch(struct gpu_lane *lane, size_t size, CUdeviceptr *data, struct error *err);

#endif
