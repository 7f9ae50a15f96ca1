/* SPDX-License-Identifier: MIT
 * JPEGs decoded by kernels: the stored components of a baseline file, to the byte what libjpeg-turbo makes of
 * them on x86-64 (JDCT_ISLOW, colour as reduced as it is stored). Behind the walk (gpu/jpeg/huffman_sync.h),
 * which says whether there is anything to decode. Inside the engine process only; one picture of a lane at a
 * time. */
#ifndef BLURD_GPU_JPEG_DECODE_H
#define BLURD_GPU_JPEG_DECODE_H

#include "gpu/engine/lane.h"

/* Takes device memory for the picture that huffman_sync_parse took last: 2 bytes and a little for each
 * sample. Status as of gpu_buffer_reserve. */
enum status gpu_decode_reserve(struct gpu_lane *lane, struct error *err);

/* Enqueues decoding into `image`, in device memory and of the picture's shape; after huffman_sync_begin. The
 * padding of planes is written up to whole blocks. Where the walk finds damage nothing is. */
enum status gpu_decode_begin(struct gpu_lane *lane, const struct image *image, struct error *err);

#endif
