/* SPDX-License-Identifier: MIT
 * A run on its way through a lane's device memory: what the pixels of gpu/engine/lane.c and the JPEGs of
 * gpu/engine/lane_jpeg.c have in common. Internal to them. */
#ifndef BLURD_GPU_FILTERS_GPU_CHAIN_H
#define BLURD_GPU_FILTERS_GPU_CHAIN_H

#include "gpu/engine/lane.h"

struct journey {
    const struct run *run;                      /* the host's pictures, or only their layouts */
    size_t source_size, target_size, mask_size; /* bytes; 0: no mask */
    size_t turned_size;                         /* bytes in lane->source of a picture that is turned
                                                   into lane->target, where the chain begins; 0: none */
    struct image source, result;                /* on the device; result: where the last step wrote */
    struct image mask;
};

/* The same picture at `data` on the device. */
struct image image_on_device(const struct image *like, CUdeviceptr data);

/* Device memory for all that the run needs: lane->source, target and, with a mask, spare and mask. Fills in
 * the sizes. Status as of gpu_buffer_reserve. */
enum status gpu_chain_reserve(struct gpu_lane *lane, struct journey *journey, struct error *err);

/* Enqueues the chain from journey->source, in lane->source or turned into lane->target, to
 * journey->result. Status as of gpu_lane_run. */
enum status gpu_chain_filter(struct gpu_lane *lane, struct journey *journey, struct error *err);

/* Waits for what is under way, which must not outlive the caller's memory; its outcome changes nothing.
 * Returns `status`. */
enum status lane_abandon(struct gpu_lane *lane, enum status status);

#endif
