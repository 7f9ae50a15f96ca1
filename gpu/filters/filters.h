/* SPDX-License-Identifier: MIT
 * What filters and JPEGs share. Each function enqueues its kernels and does not wait for them. Pictures lie
 * on the device: plane data pointers are device addresses, the layout is the host's. All backends produce the
 * same bytes (docs/filters.md). Status as of gpu_chain_run. */
#ifndef BLURD_GPU_FILTERS_FILTERS_H
#define BLURD_GPU_FILTERS_FILTERS_H

#include "core/orient.h"
#include "filters/blur/blur.h"
#include "filters/resize/resize.h"
#include "gpu/stream/stream.h"

enum status gpu_blur(struct gpu_stream *stream, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err);

enum status gpu_resize(struct gpu_stream *stream, const struct resize_plan *plan, const struct image *source,
                       const struct image *target, struct error *err);

/* Blends `source`, the input of the first filter, into `target`, the output of the last, under `mask`. */
enum status gpu_blend(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

/* Converts planes of YCbCr to RGB of the same size, with the samples that libjpeg makes: its "fancy
 * upsampling" of chroma, where libjpeg has one for the reduction, else repeated samples. Pixels of 16 bits
 * are in linear light (filters/colour/light.h). */
enum status gpu_ycc_to_rgb(struct gpu_stream *stream, const struct image *planes, const struct image *pixels,
                           struct error *err);

/* Converts RGB, of 8 bits or in linear light, to planes of YCbCr of the same size, whose chroma is reduced by
 * at most 2 along an axis, with the samples that libjpeg's encoder makes. The last columns of *planes are
 * those of whole blocks afterwards, since libjpeg fills up the pixels to blocks before it reduces them. */
enum status gpu_rgb_to_ycc(struct gpu_stream *stream, const struct image *pixels, struct image *planes,
                           struct error *err);

/* Copies `source`, turned upright by EXIF orientation, to `target`, which has orient_shape(), as
 * orient_image() does. They do not overlap. */
enum status gpu_orient(struct gpu_stream *stream, const struct image *source, uint8_t orientation,
                       const struct image *target, struct error *err);

#endif
