/* SPDX-License-Identifier: MIT
 * Lets many threads have JPEGs done on one device at the same time.
 *
 * The driver takes locks: with as many threads in it as there are pictures, the rate falls and the
 * processor's time rises. A thread that sleeps on an event is woken up to 0.8 ms late on a virtual machine.
 * So one thread of the submitter enqueues all work, and reads in memory the fences that the device writes. It
 * does not wait for a batch to fill, and no thread waits inside the driver. */
#ifndef BLURD_GPU_ENGINE_SUBMITTER_H
#define BLURD_GPU_ENGINE_SUBMITTER_H

#include "gpu/engine/jpeg_stream.h"

struct submitter;

/* ST_BUSY without memory or threads. */
enum status submitter_create(struct submitter **submitter, const struct gpu_device *device,
                             struct error *err);

/* After the last submitter_run. NULL is allowed. */
void submitter_destroy(struct submitter *submitter);

/* Does the job on the caller's own stream, with its device's context current, and returns when it is done.
 * *timing has the times of decoding, filtering and encoding in the fields for upload, filter and download.
 * Statuses as of gpu/engine/jpeg_stream.h. Thread-safe. */
enum status submitter_run(struct submitter *submitter, struct jpeg_stream *jpeg, const struct transcode *job,
                          size_t *size, struct lane_timing *timing, struct error *err);

#endif
