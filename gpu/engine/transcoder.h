/* SPDX-License-Identifier: MIT
 * Turns JPEGs into JPEGs on one device, for any thread. It has a number of streams and the submitter that
 * they share. Inside the engine process only. */
#ifndef BLURD_GPU_ENGINE_TRANSCODER_H
#define BLURD_GPU_ENGINE_TRANSCODER_H

#include "gpu/engine/jpeg_stream.h"

struct gpu_transcoder;

enum { GPU_TRANSCODER_PICTURES_MAX = 256 };

/* Creates one for `pictures` at the same time (0: GPU_PICTURES). ST_UNSUPPORTED with a driver that is too
 * old, ST_BUSY without memory or threads, ST_DEVICE when the device fails. Afterwards the device's context is
 * current. */
enum status gpu_transcoder_create(struct gpu_transcoder **transcoder, struct gpu_device *device,
                                  unsigned pictures, struct error *err);

/* Call it before the device is closed and after the last run. NULL is allowed. */
void gpu_transcoder_destroy(struct gpu_transcoder *transcoder);

/* The number of pictures at the same time. */
unsigned gpu_transcoder_pictures(const struct gpu_transcoder *transcoder);

/* Returns when the job is done. Waits for a stream when all are in use. The device's context must be current.
 * Statuses, *size and *timing as of submitter_run. Thread-safe. */
enum status gpu_transcoder_run(struct gpu_transcoder *transcoder, const struct transcode *job, size_t *size,
                               struct lane_timing *timing, struct error *err);

#endif
