/* SPDX-License-Identifier: MIT
 * Launches of a stream that are handed to the driver together. A launch by itself takes a core most of its
 * time in locks that all threads share. A graph of ten launches takes as long as one, and half of that for
 * each of them whose blocks or argument differ from the last time (core/tuned.h). So a batch keeps graphs of
 * the sequences of kernels that it has seen twice. For one thread, as its stream. */
#ifndef BLURD_GPU_STREAM_BATCH_H
#define BLURD_GPU_STREAM_BATCH_H

#include "gpu/stream/task.h"

struct gpu_batch;

/* NULL without memory, and with drivers before CUDA 12.4, which do not tell the size of a kernel's argument.
 * Device and stream have to outlive the batch. */
struct gpu_batch *gpu_batch_create(const struct gpu_device *device, CUstream stream);

/* Call it when the device has finished what the batch has launched. Accepts NULL. */
void gpu_batch_destroy(struct gpu_batch *batch);

/* Copies the launch and its argument. Launches what is there before when there is no room. Status as of
 * gpu_batch_flush. */
enum status gpu_batch_add(struct gpu_batch *batch, const struct gpu_task *task, const void *pass,
                          struct error *err);

/* Launches all that was added, in order. ST_DEVICE with the driver's error. The batch is empty then. */
enum status gpu_batch_flush(struct gpu_batch *batch, struct error *err);

/* Forgets what was added. */
void gpu_batch_drop(struct gpu_batch *batch);

#endif
