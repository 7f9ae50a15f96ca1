/* SPDX-License-Identifier: MIT
 * RGB from the planes of a JPEG, and planes from RGB, in the integers of libjpeg: its files jdcolor.c and
 * jdsample.c, jccolor.c and jcsample.c. Factors have 16 fraction bits. The factors to RGB are 1.402, 1.772,
 * 0.34414 and 0.71414; codecs/jpeg/baseline/base_convert.h lists the others. */
#ifndef BLURD_GPU_FILTERS_COLOURS_CUH
#define BLURD_GPU_FILTERS_COLOURS_CUH

#include "gpu/stream/grid.cuh"

enum {
    COLOURS_BITS = 16,
    COLOURS_HALF = 1 << (COLOURS_BITS - 1),
    COLOURS_MIDDLE = 128,
    COLOURS_CENTRE = (COLOURS_MIDDLE << COLOURS_BITS) + COLOURS_HALF - 1,
};

static __device__ __forceinline__ uint8_t colours_clamp(int value) {
    return (uint8_t)min(max(value, 0), 255);
}

/* Three quarters of the sample in a column of chroma, and one of the next row's, times four. Without rows
 * that are reduced: the sample. */
static __device__ __forceinline__ int colours_column(const struct colours_pass &pass,
                                                     const struct kernel_grid &chroma, int x, int y) {
    int row = y >> pass.shift_y;
    int sample = row_of<const uint8_t>(chroma, row)[x];
    if (!pass.shift_y) {
        return sample;
    }
    int next = min(max(row + (y & 1 ? 1 : -1), 0), chroma.height - 1);
    return 3 * sample + row_of<const uint8_t>(chroma, next)[x];
}

/* The sample of chroma at pixel (x, y). What is added before a division alternates, as libjpeg has it. */
static __device__ __forceinline__ int colours_at(const struct colours_pass &pass,
                                                 const struct kernel_grid &chroma, int x, int y) {
    int at = x >> pass.shift_x;
    if (!pass.smooth) {
        return row_of<const uint8_t>(chroma, y >> pass.shift_y)[at];
    }
    int near = colours_column(pass, chroma, at, y);
    if (!pass.shift_x) {
        return (near + 1 + (y & 1)) >> 2;
    }
    int next = min(max(at + (x & 1 ? 1 : -1), 0), chroma.width - 1);
    int sum = 3 * near + colours_column(pass, chroma, next, y);
    return pass.shift_y ? (sum + 8 - (x & 1)) >> 4 : (sum + 1 + (x & 1)) >> 2;
}

static __device__ __forceinline__ void colours_join_pixel(const struct colours_pass &pass, int x, int y) {
    int luma = row_of<const uint8_t>(pass.plane[0], y)[x];
    int cb = colours_at(pass, pass.plane[1], x, y) - COLOURS_MIDDLE;
    int cr = colours_at(pass, pass.plane[2], x, y) - COLOURS_MIDDLE;
    uint8_t *pixel = row_of<uint8_t>(pass.pixels, y) + 3 * x;
    pixel[0] = colours_clamp(luma + ((91881 * cr + COLOURS_HALF) >> COLOURS_BITS));
    pixel[1] = colours_clamp(luma + ((-22554 * cb - 46802 * cr + COLOURS_HALF) >> COLOURS_BITS));
    pixel[2] = colours_clamp(luma + ((116130 * cb + COLOURS_HALF) >> COLOURS_BITS));
}

static __device__ __forceinline__ void colours_join_tile(const struct colours_pass &pass) {
    struct tile tile = tile_of(pass.tiles, pass.pixels);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            colours_join_pixel(pass, x, y);
        }
    }
}

/* The pixels that one sample of chroma stands for. Pixels beyond the picture's last column or row repeat it.
 */
static __device__ __forceinline__ void colours_split_sample(const struct colours_pass &pass, int x, int y) {
    int cb = 0, cr = 0, width = pass.pixels.width, height = pass.pixels.height;
    for (int j = y << pass.shift_y; j < (y + 1) << pass.shift_y; j++) {
        const uint8_t *row = row_of<const uint8_t>(pass.pixels, min(j, height - 1));
        for (int i = x << pass.shift_x; i < (x + 1) << pass.shift_x; i++) {
            const uint8_t *pixel = row + 3 * min(i, width - 1);
            int r = pixel[0], g = pixel[1], b = pixel[2];
            cb += (-11059 * r - 21709 * g + 32768 * b + COLOURS_CENTRE) >> COLOURS_BITS;
            cr += (32768 * r - 27439 * g - 5329 * b + COLOURS_CENTRE) >> COLOURS_BITS;
            if (i < width && j < height) {
                row_of<uint8_t>(pass.plane[0], j)[i] =
                    (uint8_t)((19595 * r + 38470 * g + 7471 * b + COLOURS_HALF) >> COLOURS_BITS);
            }
        }
    }
    int bits = pass.shift_x + pass.shift_y;
    int rounding = bits == 2 ? 1 + (x & 1) : bits == 1 ? x & 1 : 0; /* it alternates, as libjpeg has it */
    row_of<uint8_t>(pass.plane[1], y)[x] = (uint8_t)((cb + rounding) >> bits);
    row_of<uint8_t>(pass.plane[2], y)[x] = (uint8_t)((cr + rounding) >> bits);
}

static __device__ __forceinline__ void colours_split_tile(const struct colours_pass &pass) {
    struct tile tile = tile_of(pass.tiles, pass.plane[1]);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            colours_split_sample(pass, x, y);
        }
    }
}

#endif
