/* SPDX-License-Identifier: MIT
 * Launches the mixture that ends a chain with a mask: the kernel of gpu/filters/blend.cu. */
#ifndef BLURD_GPU_FILTERS_BLEND_H
#define BLURD_GPU_FILTERS_BLEND_H

#include "gpu/stream/stream.h"

/* Enqueues what mixes `source`, which the chain's first filter read, into `target`, which its last one wrote:
 * planar pictures too. All three on the device. */
enum status gpu_blend(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

#endif
