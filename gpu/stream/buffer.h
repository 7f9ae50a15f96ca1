/* SPDX-License-Identifier: MIT
 * Device memory of a lane that grows to a high-water mark (struct gpu_buffer, gpu/engine/lane.h). Inside the
 * engine process only. */
#ifndef BLURD_GPU_STREAM_BUFFER_H
#define BLURD_GPU_STREAM_BUFFER_H

#include "gpu/engine/lane.h"

/* At least `size` bytes, aligned to 256; what it held before is lost. New memory is filled with 0 on the
 * lane's stream, and counts as kept (struct gpu_device). ST_BUSY without device memory, else ST_DEVICE. */
enum status gpu_buffer_reserve(struct gpu_lane *lane, struct gpu_buffer *buffer, size_t size,
                               struct error *err);

/* Gives the memory back; an empty one is allowed. */
void gpu_buffer_finish(struct gpu_lane *lane, struct gpu_buffer *buffer);

#endif
