/* SPDX-License-Identifier: MIT
 * Each function enqueues the kernels of one filter and does not wait for them. Pictures lie on the device:
 * plane data pointers are device addresses, the layout is the host's. All backends produce the same bytes
 * (docs/filters.md). Status as of gpu_chain_run. */
#ifndef BLURD_GPU_FILTERS_FILTERS_H
#define BLURD_GPU_FILTERS_FILTERS_H

#include "core/orient.h"
#include "filters/blur/blur.h"
#include "filters/colour/adjust.h"
#include "filters/convolve.h"
#include "filters/crop.h"
#include "filters/median.h"
#include "filters/morphology.h"
#include "filters/pixelate.h"
#include "filters/resize/resize.h"
#include "filters/sharpen.h"
#include "filters/stats.h"
#include "gpu/stream/stream.h"

/* The target may have another colour model. */
enum status gpu_adjust(struct gpu_stream *stream, const struct adjust_plan *plan, const struct image *source,
                       const struct image *target, struct error *err);

enum status gpu_blur(struct gpu_stream *stream, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err);

/* Interleaved pictures only. */
enum status gpu_convolve(struct gpu_stream *stream, const struct convolve_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

enum status gpu_crop(struct gpu_stream *stream, const struct crop_plan *plan, const struct image *source,
                     const struct image *target, struct error *err);

enum status gpu_median(struct gpu_stream *stream, const struct median_plan *plan, const struct image *source,
                       const struct image *target, struct error *err);

/* Dilates (`largest`) or erodes. Interleaved pictures only. */
enum status gpu_morphology(struct gpu_stream *stream, const struct morphology_plan *plan, bool largest,
                           const struct image *source, const struct image *target, struct error *err);

enum status gpu_pixelate(struct gpu_stream *stream, const struct pixelate_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

enum status gpu_resize(struct gpu_stream *stream, const struct resize_plan *plan, const struct image *source,
                       const struct image *target, struct error *err);

/* The unsharp mask is the blur in single precision; its last kernel sharpens. */
enum status gpu_sharpen(struct gpu_stream *stream, const struct sharpen_plan *plan,
                        const struct image *source, const struct image *target, struct error *err);

/* Writes a struct stats of `source` to the first row of `target`, of shape stats_shape(). `mask` may be
 * NULL. */
enum status gpu_stats(struct gpu_stream *stream, const struct image *source, const struct image *mask,
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
