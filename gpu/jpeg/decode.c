/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/decode.h"

#include "gpu/jpeg/huffman_sync.h"
#include "gpu/stream/buffer.h"
#include "gpu/stream/launch.h"

enum { BLOCK = 8, COEFFICIENTS = 64, ALIGNMENT = 256, ROOM = 72 /* as of decode_samples */ };

_Static_assert((int)KERNEL_DECODE_BLOCKS *BLOCK == (int)KERNEL_THREADS_X * (int)KERNEL_DECODE_THREADS_Y,
               "eight threads for a block of samples");

/* Where things lie in lane->values. */
struct places {
    size_t owners, zeroed, sums, end;
};

static struct places find_places(const struct huffman_sync *sync) {
    struct places places = {.owners = (size_t)sync->blocks * COEFFICIENTS * sizeof(int16_t)};
    places.zeroed = places.owners + (size_t)sync->blocks * sizeof(uint32_t);
    places.sums = align_up(places.zeroed, ALIGNMENT);
    size_t pieces = (sync->scan.size + KERNEL_SYNC_PIECE - 1) / KERNEL_SYNC_PIECE;
    size_t ranges = (pieces + KERNEL_SYNC_THREADS - 1) / KERNEL_SYNC_THREADS;
    places.end = places.sums + (pieces + ranges) * sizeof(struct decode_sums);
    return places;
}

enum status gpu_decode_reserve(struct gpu_lane *lane, struct error *err) {
    return gpu_buffer_reserve(lane, &lane->values, find_places(&lane->sync).end, err);
}

static uint32_t blocks_of(uint32_t samples) {
    return (samples + BLOCK - 1) / BLOCK;
}

/* Blocks of an MCU before those of that component. */
static uint32_t first_of(const struct jpeg_header *scan, uint32_t component) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < component; i++) {
        first += (uint32_t)scan->h[i] * scan->v[i];
    }
    return first;
}

static enum status find_values(struct gpu_lane *lane, struct error *err) {
    const struct jpeg_header *scan = &lane->sync.scan;
    const struct places places = find_places(&lane->sync);
    CUdeviceptr memory = lane->values.data;
    struct decode_pass pass = {
        .sync = huffman_sync_pass(lane),
        .values = memory,
        .owners = memory + places.owners,
        .sums = memory + places.sums,
        .in_mcu = first_of(scan, KERNEL_PLANES),
        .first = {first_of(scan, 1), first_of(scan, 2)},
        .blocks = lane->sync.blocks,
    };
    pass.tables = pass.sync.tables + offsetof(struct scan_tables, decode);
    struct gpu_blocks blocks = {(pass.sync.count + KERNEL_SYNC_THREADS - 1) / KERNEL_SYNC_THREADS,
                                KERNEL_SYNC_THREADS_Y, sizeof(struct decode_shared)};
    enum status status =
        CUDA_TRY(lane->device->cuda, err, cuMemsetD8Async, memory, 0, places.zeroed, lane->stream);
    return status == ST_OK ? gpu_launch(lane, KERNEL_decode_values, &pass, blocks, err) : status;
}

static enum status fill_planes(struct gpu_lane *lane, const struct image *image, struct error *err) {
    const struct jpeg_header *scan = &lane->sync.scan;
    const struct places places = find_places(&lane->sync);
    const struct sync_pass sync = huffman_sync_pass(lane);
    CUdeviceptr memory = lane->values.data;
    struct decode_planes_pass pass = {
        .tables = sync.tables,
        .values = memory,
        .owners = memory + places.owners,
        .sums = memory + places.sums,
        .count = sync.count,
        .planes = image->plane_count,
        .in_mcu = first_of(scan, KERNEL_PLANES),
        .mcus_x = (image->width + BLOCK * scan->h[0] - 1) / (BLOCK * scan->h[0]),
    };
    struct gpu_blocks blocks = {0, KERNEL_DECODE_THREADS_Y, KERNEL_DECODE_BLOCKS * ROOM * sizeof(int16_t)};
    for (uint32_t p = 0; p < pass.planes; p++) {
        const struct plane *plane = &image->plane[p];
        pass.plane[p] = (struct decode_plane){
            .data = (uint64_t)(uintptr_t)plane->data,
            .stride = (uint32_t)plane->stride,
            .blocks = blocks_of(plane->width) * blocks_of(plane->height),
            .blocks_x = blocks_of(plane->width),
            .h = scan->h[p],
            .v = scan->v[p],
            .first = first_of(scan, p),
            .first_tile = blocks.count,
        };
        blocks.count += (pass.plane[p].blocks + KERNEL_DECODE_BLOCKS - 1) / KERNEL_DECODE_BLOCKS;
    }
    return gpu_launch(lane, KERNEL_decode_planes, &pass, blocks, err);
}

enum status gpu_decode_begin(struct gpu_lane *lane, const struct image *image, struct error *err) {
    enum status status = find_values(lane, err);
    return status == ST_OK ? fill_planes(lane, image, err) : status;
}
