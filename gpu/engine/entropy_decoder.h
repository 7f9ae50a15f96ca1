/* SPDX-License-Identifier: MIT
 * Reads the scans of progressive JPEGs on one device, to coefficients in device memory. Inside the engine
 * process only.
 *
 * A scan is read by one chain of dependent instructions, so a picture takes 20 to 30 milliseconds, and
 * hundreds take no longer (docs/adr/0045-a-gpu-reads-progressive-jpegs.md). So there are many readings at the
 * same time. One thread launches a kernel for all files that have arrived in
 * TUNED_GPU_ENTROPY_DECODE_PACE_NS, and looks for each picture's verdict, which the kernel writes to pinned
 * memory. A picture that takes longer holds up no others, while fewer than TUNED_GPU_ENTROPY_DECODE_LAUNCHES
 * launches have one. */
#ifndef BLURD_GPU_ENGINE_ENTROPY_DECODER_H
#define BLURD_GPU_ENGINE_ENTROPY_DECODER_H

#include "gpu/engine/entropy_decode.h"

struct entropy_decoder;

/* A reader of up to `readings` files at the same time, 1 or more. ST_BUSY without memory or threads. */
enum status entropy_decoder_create(struct entropy_decoder **reader, struct gpu_device *device,
                                   unsigned readings, struct error *err);

/* Call it after the last entropy_decoder_run, with the device's context current. NULL is allowed. */
void entropy_decoder_destroy(struct entropy_decoder *reader);

/* Waits for an idle reading, then returns when the device has read the file. Only ST_OK stores a reading,
 * which the caller gives back. ST_UNSUPPORTED: damaged data, and as of entropy_decode_parse. ST_BUSY: no
 * memory. ST_DEVICE: the device failed, now or before. The device's context must be current. Thread-safe. */
enum status entropy_decoder_run(struct entropy_decoder *reader, struct bytes file,
                                const struct image_shape *shape, struct entropy_decode **reading,
                                struct error *err);

/* Thread-safe. */
void entropy_decoder_give_back(struct entropy_decoder *reader, struct entropy_decode *reading);

#endif
