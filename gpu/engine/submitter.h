/* SPDX-License-Identifier: MIT
 * Lets many threads process JPEGs on one device at the same time.
 *
 * The driver takes locks: with one thread in it per picture, the rate falls and processor time rises. On a
 * virtual machine a thread that sleeps on an event is woken up to 0.8 ms late. So one thread of the
 * submitter enqueues the work of many pictures and polls fences, which the device writes to memory. It does
 * not wait for a batch to fill. */
#ifndef BLURD_GPU_ENGINE_SUBMITTER_H
#define BLURD_GPU_ENGINE_SUBMITTER_H

#include "gpu/engine/jpeg_stream.h"

struct submitter;

/* ST_BUSY without memory or threads. */
enum status submitter_create(struct submitter **submitter, struct gpu_device *device, struct error *err);

/* Call it after the last submitter_run. NULL is allowed. */
void submitter_destroy(struct submitter *submitter);

/* Does the job on the caller's own stream and returns when it is done. The device's context must be current.
 * The upload, filter and download fields of *timing hold the times of decoding, filtering and encoding.
 * Statuses as of gpu/engine/jpeg_stream.h. Thread-safe. */
enum status submitter_run(struct submitter *submitter, struct jpeg_stream *jpeg, const struct transcode *job,
                          size_t *size, struct lane_timing *timing, struct error *err);

#endif
