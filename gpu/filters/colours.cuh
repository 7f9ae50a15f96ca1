/* SPDX-License-Identifier: MIT
 * RGB from the planes of a JPEG, and planes from RGB, in the integers of libjpeg: its files jdcolor.c and
 * jdsample.c, jccolor.c and jcsample.c. RGB may be in linear light. Factors have 16 fraction bits. The
 * factors to RGB are 1.402, 1.772, 0.34414 and 0.71414; codecs/jpeg/baseline/jpeg_enc_convert.h lists the
 * others.
 */
#ifndef BLURD_GPU_FILTERS_COLOURS_CUH
#define BLURD_GPU_FILTERS_COLOURS_CUH

#include "gpu/stream/grid.cuh"

enum {
    COLOURS_BITS = 16,
    COLOURS_HALF = 1 << (COLOURS_BITS - 1),
    COLOURS_MIDDLE = 128,
    COLOURS_CENTRE = (COLOURS_MIDDLE << COLOURS_BITS) + COLOURS_HALF - 1,
};

static __device__ __forceinline__ int colours_clamp(int value) {
    return min(max(value, 0), 255);
}

/* Pixels of 8 bits, which are the samples themselves. */
struct colours_bytes {
    typedef uint8_t Sample;
    static __device__ __forceinline__ uint8_t stored(int value) {
        return (uint8_t)value;
    }
    static __device__ __forceinline__ int read(uint8_t sample) {
        return sample;
    }
};

/* Pixels of linear light. The table is in shared memory, since threads read different entries at a time. */
struct colours_light {
    typedef uint16_t Sample;
    const uint16_t *table;

    __device__ __forceinline__ explicit colours_light(const struct colours_linear_pass &linear) {
        uint16_t *shared = (uint16_t *)block_memory;
        int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
        static_assert(KERNEL_THREADS_X * KERNEL_THREADS_Y == 256, "each thread has an entry");
        shared[thread] = linear.table[thread];
        __syncthreads();
        table = shared;
    }
    __device__ __forceinline__ uint16_t stored(int value) const {
        return table[value];
    }
    /* The largest sample that begins at this light or below. */
    __device__ __forceinline__ int read(uint16_t light) const {
        int sample = 0;
        for (int half = 128; half > 0; half /= 2) {
            sample += light >= table[sample + half] ? half : 0;
        }
        return sample;
    }
};

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

template <class Pixels>
static __device__ __forceinline__ void ycc_to_rgb_pixel(const struct colours_pass &pass, const Pixels &pixels,
                                                        int x, int y) {
    int luma = row_of<const uint8_t>(pass.plane[0], y)[x];
    int cb = colours_at(pass, pass.plane[1], x, y) - COLOURS_MIDDLE;
    int cr = colours_at(pass, pass.plane[2], x, y) - COLOURS_MIDDLE;
    int red = luma + ((91881 * cr + COLOURS_HALF) >> COLOURS_BITS);
    int green = luma + ((-22554 * cb - 46802 * cr + COLOURS_HALF) >> COLOURS_BITS);
    int blue = luma + ((116130 * cb + COLOURS_HALF) >> COLOURS_BITS);
    typename Pixels::Sample *pixel = row_of<typename Pixels::Sample>(pass.pixels, y) + 3 * x;
    pixel[0] = pixels.stored(colours_clamp(red));
    pixel[1] = pixels.stored(colours_clamp(green));
    pixel[2] = pixels.stored(colours_clamp(blue));
}

template <class Pixels>
static __device__ __forceinline__ void ycc_to_rgb_tile(const struct colours_pass &pass,
                                                       const Pixels &pixels) {
    struct tile tile = tile_of(pass.tiles, pass.pixels);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            ycc_to_rgb_pixel(pass, pixels, x, y);
        }
    }
}

/* Makes one sample of each chroma plane, and the luma of its pixels. Beyond the last column or row of the
 * picture, pixels repeat it. */
template <class Pixels>
static __device__ __forceinline__ void rgb_to_ycc_sample(const struct colours_pass &pass,
                                                         const Pixels &pixels, int x, int y) {
    int cb = 0, cr = 0, width = pass.pixels.width, height = pass.pixels.height;
    for (int j = y << pass.shift_y; j < (y + 1) << pass.shift_y; j++) {
        const typename Pixels::Sample *row =
            row_of<const typename Pixels::Sample>(pass.pixels, min(j, height - 1));
        for (int i = x << pass.shift_x; i < (x + 1) << pass.shift_x; i++) {
            const typename Pixels::Sample *pixel = row + 3 * min(i, width - 1);
            int r = pixels.read(pixel[0]), g = pixels.read(pixel[1]), b = pixels.read(pixel[2]);
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

template <class Pixels>
static __device__ __forceinline__ void rgb_to_ycc_tile(const struct colours_pass &pass,
                                                       const Pixels &pixels) {
    struct tile tile = tile_of(pass.tiles, pass.plane[1]);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            rgb_to_ycc_sample(pass, pixels, x, y);
        }
    }
}

#endif
