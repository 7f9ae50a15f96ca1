/* SPDX-License-Identifier: MIT
 * Lets many threads have JPEGs done on one device without standing in each other's way.
 *
 * nvJPEG and the driver take locks: with as many threads in them as there are pictures under way the rate
 * falls to a half, and the time on the processor doubles; so it does with more than twice as many pictures in
 * the decoders as there are decoders. And a thread that sleeps is woken a good part of a millisecond late on
 * a virtual machine, in which a decoder stands still. So one thread of the pump hands pictures to the
 * decoders, sees from marks that the device leaves in memory what is done, and fetches; few others encode,
 * which blocks them. Nobody waits for a batch to fill, and nobody waits inside the driver. */
#ifndef BLURD_GPU_PUMP_H
#define BLURD_GPU_PUMP_H

#include "gpu/lane.h"

struct gpu_pump;

enum { GPU_PUMP_ENCODERS_MAX = 8 };

/* How many pictures may be in the decoders at the same time, and how many threads encode. ST_BUSY without
 * memory or threads. */
enum status gpu_pump_create(struct gpu_pump **pump, const struct gpu_device *device, unsigned decoding,
                            unsigned encoders, struct error *err);

/* After the last gpu_pump_run. NULL is allowed. */
void gpu_pump_destroy(struct gpu_pump *pump);

/* Does the job on the caller's own lane, whose device's context is current, and returns when it is done.
 * Statuses, *size and *timing as of the lane's steps. Thread-safe. */
enum status gpu_pump_run(struct gpu_pump *pump, struct gpu_lane *lane, const struct gpu_transcode *job,
                         size_t *size, struct lane_timing *timing, struct error *err);

#endif
