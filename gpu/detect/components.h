/* SPDX-License-Identifier: MIT
 * Components of the map that a network has made, as candidates: those of detect/components.h, in any order.
 * The CPU's function is the reference. */
#ifndef BLURD_GPU_DETECT_COMPONENTS_H
#define BLURD_GPU_DETECT_COMPONENTS_H

#include "detect/components.h"
#include "gpu/stream/stream.h"

/* All in the device's memory, and lent until the stream has run the kernels. map: width * height bytes
 * without gaps. memory: gpu_components_bytes(), aligned to 256. candidates: a struct candidates, whose
 * count is right and to which they are added; what lies behind the last valid one stays as it was. */
struct gpu_components {
    CUdeviceptr map, memory, candidates;
    int32_t width, height; /* their product is below 2^31 */
};

/* Bytes of `memory` for a map of this size. Thread-safe. */
size_t gpu_components_bytes(int32_t width, int32_t height);

/* Enqueues the kernels. ST_DEVICE with the driver's error. */
enum status gpu_components_find(struct gpu_stream *stream, const struct gpu_components *components,
                                struct components_bounds bounds, struct error *err);

#endif
