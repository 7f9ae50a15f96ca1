/* SPDX-License-Identifier: MIT
 * JPEGs to JPEGs on one device for any thread: lanes that were given their means when it was made, and the
 * pump that they share. Inside the engine process only. */
#ifndef BLURD_GPU_ENGINE_TRANSCODER_H
#define BLURD_GPU_ENGINE_TRANSCODER_H

#include "gpu/engine/lane.h"

struct gpu_transcoder;

enum { GPU_TRANSCODER_PICTURES_MAX = 256 };

/* For so many pictures at the same time (0: GPU_PICTURES). ST_UNSUPPORTED with a driver that is too old,
 * ST_BUSY without memory or threads, ST_DEVICE when the device fails. Afterwards the device's context is
 * current. */
enum status gpu_transcoder_create(struct gpu_transcoder **transcoder, struct gpu_device *device,
                                  unsigned pictures, struct error *err);

/* Before its device is closed, after the last run. NULL is allowed. */
void gpu_transcoder_destroy(struct gpu_transcoder *transcoder);

/* How many pictures it was made for. */
unsigned gpu_transcoder_pictures(const struct gpu_transcoder *transcoder);

/* Returns when the job is done; waits for a lane where more come than it was made for. The device's context
 * is current. Statuses, *size and *timing as of gpu/engine/lane.h. Thread-safe. */
enum status gpu_transcoder_run(struct gpu_transcoder *transcoder, const struct gpu_transcode *job,
                               size_t *size, struct lane_timing *timing, struct error *err);

#endif
