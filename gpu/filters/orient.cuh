/* SPDX-License-Identifier: MIT
 * Turns a picture upright. The threads of a warp read and write adjacent pixels of a row, forwards or
 * backwards. To exchange the axes, a tile is transposed in shared memory. */
#ifndef BLURD_GPU_FILTERS_ORIENT_CUH
#define BLURD_GPU_FILTERS_ORIENT_CUH

#include "gpu/stream/grid.cuh"

/* Index `at` of an axis with `size` samples, or its mirror image. */
static __device__ __forceinline__ int orient_index(int at, int size, int mirror) {
    return mirror ? size - 1 - at : at;
}

static __device__ __forceinline__ void orient_mirror_tile(const struct orient_pass &pass) {
    const struct orient_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        const uint8_t *from =
            row_of<const uint8_t>(plane.source, orient_index(y, plane.source.height, pass.mirror_y));
        uint8_t *to = row_of<uint8_t>(plane.target, y);
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            to[x] = from[orient_index(x, plane.source.width, pass.mirror_x)];
        }
    }
}

/* A column of the target is a row of the source and of shared memory. */
static __device__ __forceinline__ void orient_transpose_tile(const struct orient_pass &pass) {
    const struct orient_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    uint8_t *block = (uint8_t *)block_memory;
    int lane = (int)threadIdx.x;
    for (int x = (int)threadIdx.y; x < tile.width && lane < tile.height; x += KERNEL_THREADS_Y) {
        const uint8_t *from =
            row_of<const uint8_t>(plane.source, orient_index(tile.x + x, plane.source.height, pass.mirror_y));
        block[x * KERNEL_ORIENT_STRIDE + lane] =
            from[orient_index(tile.y + lane, plane.source.width, pass.mirror_x)];
    }
    __syncthreads();
    for (int y = (int)threadIdx.y; y < tile.height && lane < tile.width; y += KERNEL_THREADS_Y) {
        row_of<uint8_t>(plane.target, tile.y + y)[tile.x + lane] = block[lane * KERNEL_ORIENT_STRIDE + y];
    }
}

#endif
