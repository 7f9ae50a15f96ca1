/* SPDX-License-Identifier: MIT
 * Turns JPEGs into JPEGs on one device, with several streams and a submitter or two. Inside the engine
 * process only. */
#ifndef BLURD_GPU_ENGINE_TRANSCODER_H
#define BLURD_GPU_ENGINE_TRANSCODER_H

#include "gpu/engine/jpeg_stream.h"

struct gpu_transcoder;

enum { GPU_TRANSCODER_PICTURES_MAX = 256 };

/* Creates a transcoder for `pictures` (1 or more) at the same time, and makes the device's context
 * current. ST_UNSUPPORTED with a driver that is too old, ST_BUSY without memory or threads, ST_DEVICE when
 * the device fails. */
enum status gpu_transcoder_create(struct gpu_transcoder **transcoder, struct gpu_device *device,
                                  unsigned pictures, struct error *err);

/* Opens all streams and gives them memory (jpeg_stream_prepare), while they keep less than a quarter of their
 * share of the device's memory. Until all are open, jobs wait for an open stream. The device's context must
 * be current. */
void gpu_transcoder_warm(struct gpu_transcoder *transcoder);

/* Call it after the last run and before the device is closed. NULL is allowed. */
void gpu_transcoder_destroy(struct gpu_transcoder *transcoder);

/* Whether a file of `input` bytes and a result of up to `room` fit into a stream's staging memory. */
bool gpu_transcoder_stages(size_t input, size_t room);

/* Number of pictures that run at the same time. */
unsigned gpu_transcoder_pictures(const struct gpu_transcoder *transcoder);

/* Waits for an idle stream, then returns when the job is done. The device's context must be current. Where
 * the driver does not know the job's output, file and result go through the stream's staging memory.
 * Statuses, *size and *timing as of submitter_run. Thread-safe. */
enum status gpu_transcoder_run(struct gpu_transcoder *transcoder, const struct transcode *job, size_t *size,
                               struct lane_timing *timing, struct error *err);

#endif
