/* SPDX-License-Identifier: MIT
 * Searches on a GPU: the forward passes of networks of detect/network.h, in the steps of gpu/detect/pack.h.
 * Inside the engine process only. Detectors without a network are the CPU's. */
#ifndef BLURD_GPU_DETECT_DETECT_H
#define BLURD_GPU_DETECT_DETECT_H

#include "detect/model.h"
#include "filters/detect/detect.h"
#include "gpu/stream/stream.h"

/* Pictures with more pixels, after padding, are the CPU's. For each of them a search takes 5.5 bytes of
 * device memory with the network of faces, 25 with one that finds text, and a few more with one that finds
 * plates with it. */
enum { DETECT_PIXELS_MAX = 1 << 25 };

/* Lets the device search with a detector. The model is read at the first search, and must outlive the
 * device's use. ST_BUSY without memory. Not thread-safe; call it before the first search. */
enum status gpu_detect_open(struct gpu_device *device, enum detector_id detector, struct model *model,
                            struct error *err);

/* Forgets the models. Call it before gpu_device_close. */
void gpu_detect_close(struct gpu_device *device);

/* Enqueues the steps from `first` to before `end`, and with the last one the search for components. The steps
 * before them must have run on this stream: for measuring. ST_UNSUPPORTED without a model, or for a picture
 * of more than DETECT_PIXELS_MAX pixels; ST_BUSY without memory; else ST_DEVICE. Thread-safe for different
 * streams. */
enum status gpu_detect_steps(struct gpu_stream *stream, const struct detect_plan *plan,
                             const struct image *source, const struct image *target, int first, int end,
                             struct error *err);

#endif
