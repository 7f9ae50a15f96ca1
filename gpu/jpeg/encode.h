/* SPDX-License-Identifier: MIT
 * Encodes pictures on the device as JPEGs, to the byte what codecs/jpeg/jpeg_encode.c makes of them without
 * metadata: baseline, the standard's Huffman codes. Nothing here waits for the device. Inside the engine
 * process only; one picture of a lane at a time. */
#ifndef BLURD_GPU_JPEG_ENCODE_H
#define BLURD_GPU_JPEG_ENCODE_H

#include "gpu/engine/lane.h"

/* Pinned and device memory for what all pictures need. Status as of gpu_lane_init. Finish after failure,
 * too. */
enum status gpu_encode_init(struct gpu_lane *lane, struct error *err);
void gpu_encode_finish(struct gpu_lane *lane);

/* Device memory for a picture laid out like this, and a file of `room` bytes at most, which will be at
 * `output`; as gpu_buffer_reserve does. ST_UNSUPPORTED for a picture that no JPEG holds: a side of more than
 * 65500, chroma reduced by 4 x 4. */
enum status gpu_encode_reserve(struct gpu_lane *lane, const struct image *layout, uint8_t *output,
                               size_t room, struct error *err);

/* Enqueues encoding of `image`: grey or YCbCr of 8 bits in device memory, laid out as reserved, with the room
 * that was reserved. `quality`: 1 to 100. */
enum status gpu_encode(struct gpu_lane *lane, const struct image *image, size_t room, uint8_t quality,
                       struct error *err);

/* Once the stream has got there: bytes of the file, which was not written if they are more than the room;
 * they may be even more then. */
size_t gpu_encode_size(const struct gpu_lane *lane);

/* Whether the file then is at `output`, as that is memory which the driver knows and the kernels write to;
 * else its copy has to be enqueued. */
bool gpu_encode_is_direct(const struct gpu_lane *lane);
enum status gpu_encode_fetch(struct gpu_lane *lane, uint8_t *output, size_t size, struct error *err);

#endif
