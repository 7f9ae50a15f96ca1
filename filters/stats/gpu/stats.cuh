/* SPDX-License-Identifier: MIT
 * Statistics. Each warp has a histogram in shared memory. Each thread keeps sums and extremes; they are
 * joined by the warp, then by the block, and added to those of the picture. Sums are integers, so their order
 * does not matter. The minimum is kept as the largest distance from 65535, so that memory can be cleared to 0
 * before; stats_finish converts it. */
#ifndef BLURD_FILTERS_STATS_GPU_STATS_CUH
#define BLURD_FILTERS_STATS_GPU_STATS_CUH

#include "gpu/stream/grid.cuh"

enum { STATS_LARGEST = 65535, STATS_COUNTED = 128 /* least coverage of a pixel that counts */ };

/* Sums and extremes of one channel, from one thread or several. */
struct stats_part {
    uint64_t sum, squares;
    uint32_t distance, most; /* STATS_LARGEST minus the smallest sample; the largest sample */
};

struct stats_parts {
    struct stats_part channel[KERNEL_STATS_CHANNELS];
    uint32_t pixels;
};

/* Shared memory: the histograms of each warp, channel by channel, then the joined parts of each warp. */
static __device__ __forceinline__ uint32_t *stats_histogram(int channels, int warp) {
    return (uint32_t *)block_memory + warp * channels * KERNEL_STATS_BINS;
}

static __device__ __forceinline__ struct stats_parts *stats_joined(int channels) {
    return (struct stats_parts *)stats_histogram(channels, KERNEL_THREADS_Y);
}

/* ---- one thread ---- */

template <class T>
static __device__ __forceinline__ void stats_count(const struct stats_pass &pass, const T *pixel,
                                                   uint32_t *histogram, struct stats_parts &parts) {
#pragma unroll
    for (int c = 0; c < KERNEL_STATS_CHANNELS; c++) {
        if (c < pass.channels) {
            uint32_t value = pixel[c];
            struct stats_part &part = parts.channel[c];
            part.sum += value;
            part.squares += value * value;
            part.distance = max(part.distance, STATS_LARGEST - value);
            part.most = max(part.most, value);
            atomicAdd(&histogram[c * KERNEL_STATS_BINS + (value >> 8 * (sizeof(T) - 1))], 1u);
        }
    }
    parts.pixels++;
}

template <class T>
static __device__ __forceinline__ struct stats_parts stats_rows(const struct stats_pass &pass,
                                                                const struct tile &tile) {
    struct stats_parts parts = {};
    uint32_t *histogram = stats_histogram(pass.channels, (int)threadIdx.y);
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        const T *row = row_of<const T>(pass.source, tile.y + y);
        const uint8_t *mask =
            pass.mask.data ? row_of<const uint8_t>(pass.mask, tile.y + y) : (const uint8_t *)0;
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            if (!mask || mask[x] >= STATS_COUNTED) {
                stats_count(pass, row + x * pass.channels, histogram, parts);
            }
        }
    }
    return parts;
}

/* ---- a warp, a block ---- */

static __device__ __forceinline__ uint32_t stats_other(uint32_t value, int distance) {
    return __shfl_sync(0xffffffffu, value, (int)threadIdx.x ^ distance);
}

static __device__ __forceinline__ uint64_t stats_other(uint64_t value, int distance) {
    uint32_t high = stats_other((uint32_t)(value >> 32), distance);
    return (uint64_t)high << 32 | stats_other((uint32_t)value, distance);
}

static __device__ __forceinline__ void stats_join(struct stats_part &part, const struct stats_part &other) {
    part.sum += other.sum;
    part.squares += other.squares;
    part.distance = max(part.distance, other.distance);
    part.most = max(part.most, other.most);
}

static __device__ __forceinline__ void stats_join_warp(struct stats_parts &parts, int channels) {
    for (int distance = KERNEL_THREADS_X / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int c = 0; c < KERNEL_STATS_CHANNELS; c++) {
            if (c < channels) {
                struct stats_part &part = parts.channel[c];
                struct stats_part other = {
                    stats_other(part.sum, distance), stats_other(part.squares, distance),
                    stats_other(part.distance, distance), stats_other(part.most, distance)};
                stats_join(part, other);
            }
        }
        parts.pixels += stats_other(parts.pixels, distance);
    }
}

/* ---- the picture ---- */

static __device__ __forceinline__ void stats_add(uint64_t &to, uint64_t value) {
    if (value) {
        atomicAdd((unsigned long long *)&to, (unsigned long long)value);
    }
}

static __device__ __forceinline__ void stats_raise(uint64_t &to, uint64_t value) {
    atomicMax((unsigned long long *)&to, (unsigned long long)value);
}

static __device__ __forceinline__ void stats_add_histograms(struct kernel_stats &stats, int channels,
                                                            int thread) {
    for (int i = thread; i < channels * KERNEL_STATS_BINS; i += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        uint32_t count = 0;
        for (int warp = 0; warp < KERNEL_THREADS_Y; warp++) {
            count += stats_histogram(channels, warp)[i];
        }
        stats_add(stats.channel[i / KERNEL_STATS_BINS].histogram[i % KERNEL_STATS_BINS], count);
    }
}

/* Thread c adds channel c; thread 0 also adds the number of pixels. */
static __device__ __forceinline__ void stats_add_parts(struct kernel_stats &stats, int channels, int thread) {
    const struct stats_parts *joined = stats_joined(channels);
    if (thread >= channels) {
        return;
    }
    struct stats_part part = joined[0].channel[thread];
    uint32_t pixels = joined[0].pixels;
    for (int warp = 1; warp < KERNEL_THREADS_Y; warp++) {
        stats_join(part, joined[warp].channel[thread]);
        pixels += joined[warp].pixels;
    }
    struct kernel_stats_channel &to = stats.channel[thread];
    stats_add(to.sum, part.sum);
    stats_add(to.squares, part.squares);
    stats_raise(to.minimum, part.distance);
    stats_raise(to.maximum, part.most);
    stats_add(stats.pixels, thread == 0 ? pixels : 0);
}

static __device__ __forceinline__ void stats_tile(const struct stats_pass &pass) {
    struct kernel_stats &stats = *(struct kernel_stats *)pass.stats;
    struct tile tile = tile_of(pass.tiles, pass.source);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    uint32_t *histograms = stats_histogram(pass.channels, 0);
    for (int i = thread; i < KERNEL_THREADS_Y * pass.channels * KERNEL_STATS_BINS;
         i += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        histograms[i] = 0;
    }
    __syncthreads();
    struct stats_parts parts =
        pass.depth == 8 ? stats_rows<uint8_t>(pass, tile) : stats_rows<uint16_t>(pass, tile);
    stats_join_warp(parts, pass.channels);
    if (threadIdx.x == 0) {
        stats_joined(pass.channels)[threadIdx.y] = parts;
    }
    __syncthreads();
    stats_add_histograms(stats, pass.channels, thread);
    stats_add_parts(stats, pass.channels, thread);
}

/* Runs as one block after all others. */
static __device__ __forceinline__ void stats_turn(const struct stats_pass &pass) {
    struct kernel_stats &stats = *(struct kernel_stats *)pass.stats;
    int channel = (int)threadIdx.x;
    if (threadIdx.y == 0 && channel < pass.channels && stats.pixels > 0) {
        stats.channel[channel].minimum = STATS_LARGEST - stats.channel[channel].minimum;
    }
}

#endif
