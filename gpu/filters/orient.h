/* SPDX-License-Identifier: MIT
 * Turns pictures upright on a GPU, as EXIF orientation asks (core/orient.h): the kernels of
 * gpu/filters/orient.cu. */
#ifndef BLURD_GPU_FILTERS_ORIENT_H
#define BLURD_GPU_FILTERS_ORIENT_H

#include "core/orient.h"
#include "gpu/stream/stream.h"

/* Enqueues what copies `source` turned upright to `target`, laid out with orient_shape: the bytes of
 * orient_image(). Grey and planar pictures of 8 bits, on the device; they do not overlap. Nothing but pixels
 * is read or written. Status as of gpu_chain_run. */
enum status gpu_orient(struct gpu_stream *stream, const struct image *source, uint8_t orientation,
                       const struct image *target, struct error *err);

#endif
