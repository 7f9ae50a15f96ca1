/* SPDX-License-Identifier: MIT
 * Whether a JPEG's entropy-coded data is whole, and where its blocks of samples begin, for who decodes them
 * (gpu/jpeg/decode.h): the kernel of gpu/jpeg/huffman_sync.cu walks through all codes. Inside the engine
 * process only; one picture of a lane at a time.
 *
 * What it calls whole, libjpeg decodes without a warning. It refuses some that libjpeg takes: padding of
 * other bits than ones, surplus bytes before a marker, runs of zeros that go beyond their block, and what
 * gpu/jpeg/jpeg_header.h does not take. The CPU has the last word on them, so that the rule of docs/api.md
 * ("Damaged files") holds on both ways. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_SYNC_H
#define BLURD_GPU_JPEG_HUFFMAN_SYNC_H

#include "gpu/engine/lane.h"
#include "gpu/jpeg/jpeg_kernels.h"

/* Pinned memory for the tables and the verdict. Status as of gpu_lane_init. Finish after failure, too. */
enum status huffman_sync_init(struct gpu_lane *lane, struct error *err);
void huffman_sync_finish(struct gpu_lane *lane);

/* Reads the header and takes device memory, as gpu_buffer_reserve does. ST_UNSUPPORTED for a file that
 * jpeg_header_parse does not take, or that is of another shape. */
enum status huffman_sync_parse(struct gpu_lane *lane, struct bytes file, const struct image_shape *shape,
                               struct error *err);

/* Enqueues the walk over the file that was parsed last; its bytes stay until the stream has got there. */
enum status huffman_sync_begin(struct gpu_lane *lane, struct bytes file, struct error *err);

/* What the kernel was given, and what it leaves in memory for who decodes. */
struct sync_pass huffman_sync_pass(const struct gpu_lane *lane);

/* Then: ST_OK for a scan that is whole, else ST_UNSUPPORTED, so that the CPU looks at it. */
enum status huffman_sync_end(const struct gpu_lane *lane, struct error *err);

#endif
