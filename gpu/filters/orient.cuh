/* SPDX-License-Identifier: MIT
 * Turns a picture, or copies a part of it. The threads of a warp read and write adjacent pixels of a row,
 * forwards or backwards. To exchange the axes, a tile is transposed in shared memory. */
#ifndef BLURD_GPU_FILTERS_ORIENT_CUH
#define BLURD_GPU_FILTERS_ORIENT_CUH

#include "gpu/stream/grid.cuh"

/* A pixel of 3 or 6 bytes. */
template <class T> struct orient_triple { T sample[3]; };

/* Index `at` of an axis with `size` samples, or its mirror image. */
static __device__ __forceinline__ int orient_index(int at, int size, int mirror) {
    return mirror ? size - 1 - at : at;
}

struct orient_mirroring {
    template <class T> static __device__ __forceinline__ void run(const struct orient_pass &pass) {
        const struct orient_plane &plane = pass.plane[plane_of(pass)];
        struct tile tile = tile_of(plane.tiles, plane.target);
        for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
            const T *from =
                row_of<const T>(plane.source, orient_index(y, plane.source.height, pass.mirror_y));
            T *to = row_of<T>(plane.target, y);
            for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
                to[x] = from[orient_index(x, plane.source.width, pass.mirror_x)];
            }
        }
    }
};

/* A column of the target is a row of the source and of shared memory. Rows have an odd number of words there,
 * so that columns do not meet in a bank. */
struct orient_transposition {
    template <class T> static __device__ __forceinline__ void run(const struct orient_pass &pass) {
        enum { STRIDE = sizeof(T) == 1 ? KERNEL_ORIENT_STRIDE : sizeof(T) == 2 ? 34 : 33 };
        const struct orient_plane &plane = pass.plane[plane_of(pass)];
        struct tile tile = tile_of(plane.tiles, plane.target);
        T *block = (T *)block_memory;
        int lane = (int)threadIdx.x;
        for (int x = (int)threadIdx.y; x < tile.width && lane < tile.height; x += KERNEL_THREADS_Y) {
            const T *from =
                row_of<const T>(plane.source, orient_index(tile.x + x, plane.source.height, pass.mirror_y));
            block[x * STRIDE + lane] = from[orient_index(tile.y + lane, plane.source.width, pass.mirror_x)];
        }
        __syncthreads();
        for (int y = (int)threadIdx.y; y < tile.height && lane < tile.width; y += KERNEL_THREADS_Y) {
            row_of<T>(plane.target, tile.y + y)[tile.x + lane] = block[lane * STRIDE + y];
        }
    }
};

/* Rows and pixels are aligned to the size of a pixel, or of a sample for 3 and 6 bytes. */
template <class Work> static __device__ __forceinline__ void orient_tile(const struct orient_pass &pass) {
    switch (pass.size) {
    case 1:
        Work::template run<uint8_t>(pass);
        break;
    case 2:
        Work::template run<uint16_t>(pass);
        break;
    case 3:
        Work::template run<orient_triple<uint8_t>>(pass);
        break;
    case 4:
        Work::template run<uint32_t>(pass);
        break;
    case 6:
        Work::template run<orient_triple<uint16_t>>(pass);
        break;
    default:
        Work::template run<uint64_t>(pass);
        break;
    }
}

#endif
