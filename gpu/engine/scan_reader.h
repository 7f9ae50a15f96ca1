/* SPDX-License-Identifier: MIT
 * Reads the scans of progressive JPEGs on one device, to coefficients in device memory. Inside the engine
 * process only.
 *
 * A scan is read by one chain of dependent instructions, so a picture takes 20 to 30 milliseconds, and
 * hundreds take no longer (docs/adr/0045-a-gpu-reads-progressive-jpegs.md). So there are many readings at the
 * same time. One thread launches a kernel for all files that have arrived in TUNED_GPU_READ_PACE_NS, and
 * looks for each picture's verdict, which the kernel writes to pinned memory. A picture that takes longer
 * holds up no others, while fewer than TUNED_GPU_READ_LAUNCHES launches have one. */
#ifndef BLURD_GPU_ENGINE_SCAN_READER_H
#define BLURD_GPU_ENGINE_SCAN_READER_H

#include "gpu/engine/scan_reading.h"

struct scan_reader;

/* A reader of up to `readings` files at the same time, 1 or more. ST_BUSY without memory or threads. */
enum status scan_reader_create(struct scan_reader **reader, struct gpu_device *device, unsigned readings,
                               struct error *err);

/* Call it after the last scan_reader_read, with the device's context current. NULL is allowed. */
void scan_reader_destroy(struct scan_reader *reader);

/* Waits for an idle reading, then returns when the device has read the file. Only ST_OK stores a reading,
 * which the caller gives back. ST_UNSUPPORTED: damaged data, and as of scan_reading_parse. ST_BUSY: no
 * memory. ST_DEVICE: the device failed, now or before. The device's context must be current. Thread-safe. */
enum status scan_reader_read(struct scan_reader *reader, struct bytes file, const struct image_shape *shape,
                             struct scan_reading **reading, struct error *err);

/* Thread-safe. */
void scan_reader_give_back(struct scan_reader *reader, struct scan_reading *reading);

#endif
