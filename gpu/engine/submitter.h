/* SPDX-License-Identifier: MIT
 * Lets many threads have JPEGs done on one device without standing in each other's way.
 *
 * The driver takes locks: with as many threads in it as there are pictures under way the rate falls, and the
 * time on the processor rises. And a thread that sleeps on an event is woken a good part of a millisecond
 * late on a virtual machine. So one thread of the pump enqueues all work and sees from marks that the device
 * leaves in memory what is done. Nobody waits for a batch to fill, and nobody waits inside the driver. */
#ifndef BLURD_GPU_ENGINE_SUBMITTER_H
#define BLURD_GPU_ENGINE_SUBMITTER_H

#include "gpu/engine/lane.h"

struct submitter;

/* ST_BUSY without memory or threads. */
enum status submitter_create(struct submitter **pump, const struct gpu_device *device, struct error *err);

/* After the last submitter_run. NULL is allowed. */
void submitter_destroy(struct submitter *pump);

/* Does the job on the caller's own lane, whose device's context is current, and returns when it is done.
 * Statuses, *size and *timing as of the lane's steps. Thread-safe. */
enum status submitter_run(struct submitter *pump, struct gpu_lane *lane, const struct gpu_transcode *job,
                          size_t *size, struct lane_timing *timing, struct error *err);

#endif
