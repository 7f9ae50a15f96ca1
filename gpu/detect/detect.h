/* SPDX-License-Identifier: MIT
 * The search for faces on a GPU: the forward pass of the network of detect/network.h, 22 kernels. Inside the
 * engine process only. */
#ifndef BLURD_GPU_DETECT_DETECT_H
#define BLURD_GPU_DETECT_DETECT_H

#include "filters/detect/detect.h"
#include "gpu/stream/stream.h"

struct model;

/* Pictures with more pixels, after padding, are the CPU's: 13.4 bytes of device memory are needed for each.
 */
enum { DETECT_PIXELS_MAX = 1 << 25 };

/* Lets the device search for faces. The model is read at the first search, and must outlive the device's use.
 * ST_BUSY without memory. */
enum status gpu_detect_open(struct gpu_device *device, struct model *model, struct error *err);

/* Forgets the model. Call it before gpu_device_close. */
void gpu_detect_close(struct gpu_device *device);

enum { DETECT_STEPS = 22 };

/* The kernels from `first` to before `end` alone, which expect what those before them left in the stream's
 * scratch memory: for measuring. */
enum status gpu_detect_steps(struct gpu_stream *stream, const struct detect_plan *plan,
                             const struct image *source, const struct image *target, int first, int end,
                             struct error *err);

#endif
