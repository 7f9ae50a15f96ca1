/* SPDX-License-Identifier: MIT
 * Blends the result of a chain with its source, under a mask. */
#ifndef BLURD_GPU_FILTERS_BLEND_H
#define BLURD_GPU_FILTERS_BLEND_H

#include "gpu/stream/stream.h"

/* Enqueues the kernel that blends `source`, which the first filter read, into `target`, which the last filter
 * wrote. All three are on the device; planar pictures are allowed. */
enum status gpu_blend(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

#endif
