/* SPDX-License-Identifier: MIT
 * Medians of large windows of 8-bit samples, in constant time per pixel. A warp goes down a strip of columns.
 * For each column it counts the samples below 1, 2, ... 15 within the window's rows. Sums over all columns to
 * the left then give these counts for every window of a row. The first run counts the upper four bits of all
 * samples. For each value of these bits in a median, another run counts the lower four bits of its samples.
 */
#ifndef BLURD_FILTERS_MEDIAN_GPU_MEDIAN_CUH
#define BLURD_FILTERS_MEDIAN_GPU_MEDIAN_CUH

#include "gpu/stream/grid.cuh"

enum {
    MEDIAN_LANE = KERNEL_MEDIAN_COLUMNS / KERNEL_THREADS_X, /* columns of a lane */
    MEDIAN_VALUES = 16,                                     /* of four bits */
    MEDIAN_EVERY = -1                                       /* a run for the upper bits of all samples */
};

/* Counts of a column have 8 bits, and sums of them 16. With weights both have twice as many. */
template <bool Weighted> struct median_kind {
    enum { COUNTS = Weighted ? 8 : 4, SUMS = 2 * COUNTS, RANK_BITS = Weighted ? 28 : 12 };
};

/* Shared memory: of the block, then of the warp. */
struct median_memory {
    uint4 *steps; /* what a sample of each value adds to the 16 counts, and nothing */
    uint8_t *sample, *weight;
    uint4 *sums;      /* left of each column: four words of all columns, the next four, ... */
    uint16_t *found;  /* for each median its upper bits, and its rank among the samples that have them */
    uint32_t *ranked; /* the same with weights */
};

/* The work of a warp. */
struct median_strip {
    struct median_memory memory;
    int side, height; /* of the window */
    int width, rows;  /* of the results */
    int x, y;         /* of the first result */
    int first;        /* row of the samples where its window begins */
    int channel;
};

template <bool Weighted>
static __device__ __forceinline__ struct median_memory median_memory_of(int rows, int found) {
    const int parts = Weighted ? KERNEL_MEDIAN_WEIGHTED_SUMS : KERNEL_MEDIAN_SUMS, warp = (int)threadIdx.y;
    const int samples = rows * KERNEL_MEDIAN_COLUMNS;
    struct median_memory memory;
    memory.steps = block_memory;
    memory.sums = memory.steps + KERNEL_MEDIAN_STEPS + warp * parts;
    memory.sample = (uint8_t *)(memory.steps + KERNEL_MEDIAN_STEPS + (int)blockDim.y * parts);
    memory.weight = memory.sample + samples;
    uint8_t *end = Weighted ? memory.weight + samples : memory.weight;
    memory.ranked = (uint32_t *)end + warp * found;
    memory.found = Weighted ? (uint16_t *)memory.ranked : (uint16_t *)end + warp * found;
    return memory;
}

/* ---- counts of columns ---- */

static __device__ __forceinline__ uint32_t median_widen(uint32_t counts, int half, bool weighted) {
    return weighted ? (half ? counts >> 16 : counts & 0xffff)
                    : __byte_perm(counts, 0, half ? 0x4342 : 0x4140);
}

/* Byte i of a step is 1 for values below i, and for i = 0. */
static __device__ __forceinline__ void median_fill_steps(uint4 *steps) {
    for (int i = (int)threadIdx.x; i < KERNEL_MEDIAN_STEPS * MEDIAN_VALUES; i += KERNEL_THREADS_X) {
        int value = i / MEDIAN_VALUES, at = i % MEDIAN_VALUES;
        ((uint8_t *)steps)[i] = value < MEDIAN_VALUES && (at == 0 || value < at);
    }
}

/* Adds a row of samples to the counts, or takes it away. */
template <bool Weighted, bool Enters>
static __device__ __forceinline__ void
median_slide(uint32_t (&count)[MEDIAN_LANE][median_kind<Weighted>::COUNTS],
             const struct median_memory &memory, int row, int upper) {
    const int at = row * KERNEL_MEDIAN_COLUMNS / MEDIAN_LANE + (int)threadIdx.x;
    const uint32_t samples = ((const uint32_t *)memory.sample)[at];
    const uint32_t weights = Weighted ? ((const uint32_t *)memory.weight)[at] : 0;
#pragma unroll
    for (int i = 0; i < MEDIAN_LANE; i++) {
        int value = (int)(samples >> 8 * i & 255);
        int step = upper == MEDIAN_EVERY ? value >> 4 : value >> 4 == upper ? value & 15 : MEDIAN_VALUES;
        const uint4 four = memory.steps[step];
        const uint32_t word[4] = {four.x, four.y, four.z, four.w};
        uint32_t weight = Weighted ? weights >> 8 * i & 255 : 1;
        weight = Enters ? weight : 0 - weight;
#pragma unroll
        for (int k = 0; k < median_kind<Weighted>::COUNTS; k++) {
            count[i][k] += weight * (Weighted ? median_widen(word[k / 2], k % 2, false) : word[k]);
        }
    }
}

/* ---- sums over columns ---- */

/* Where the sums left of a column are: without conflicts of banks for lanes that write or read. */
static __device__ __forceinline__ int median_place(int column) {
    return column % MEDIAN_LANE * KERNEL_MEDIAN_PITCH + column / MEDIAN_LANE;
}

template <int Sums>
static __device__ __forceinline__ void median_store_sums(uint4 *to, const uint32_t (&sum)[Sums]) {
#pragma unroll
    for (int k = 0; k < Sums; k += 4) {
        to[k / 4 * MEDIAN_LANE * KERNEL_MEDIAN_PITCH] =
            make_uint4(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
    }
}

template <bool Weighted>
static __device__ __forceinline__ void
median_sum(uint4 *sums, const uint32_t (&count)[MEDIAN_LANE][median_kind<Weighted>::COUNTS]) {
    const int lane = (int)threadIdx.x;
    uint32_t sum[median_kind<Weighted>::SUMS];
#pragma unroll
    for (int k = 0; k < median_kind<Weighted>::SUMS; k++) {
        uint32_t all = 0; /* of the lane's columns; no count overflows */
#pragma unroll
        for (int i = 0; i < MEDIAN_LANE; i++) {
            all += count[i][k / 2];
        }
        uint32_t own = median_widen(all, k % 2, Weighted);
        sum[k] = own;
#pragma unroll
        for (int distance = 1; distance < KERNEL_THREADS_X; distance *= 2) {
            uint32_t other = __shfl_sync(0xffffffffu, sum[k], lane - distance);
            sum[k] += lane >= distance ? other : 0;
        }
        sum[k] -= own;
    }
#pragma unroll
    for (int i = 0; i < MEDIAN_LANE; i++) {
        median_store_sums(sums + median_place(MEDIAN_LANE * lane + i), sum);
#pragma unroll
        for (int k = 0; k < median_kind<Weighted>::SUMS; k++) {
            sum[k] += median_widen(count[i][k / 2], k % 2, Weighted);
        }
    }
    if (lane == KERNEL_THREADS_X - 1) {
        median_store_sums(sums + median_place(KERNEL_MEDIAN_COLUMNS), sum);
    }
    __syncwarp();
}

/* ---- windows ---- */

/* Count i of the window at column x. */
template <bool Weighted>
static __device__ __forceinline__ uint32_t median_count(const struct median_strip &strip, int x, int i) {
    const int in_part = Weighted ? 4 : 8;
    const uint4 *part = strip.memory.sums + i / in_part * MEDIAN_LANE * KERNEL_MEDIAN_PITCH;
    const uint4 *left = part + median_place(x), *right = part + median_place(x + strip.side);
    return Weighted ? ((const uint32_t *)right)[i % in_part] - ((const uint32_t *)left)[i % in_part]
                    : ((const uint16_t *)right)[i % in_part] - ((const uint16_t *)left)[i % in_part];
}

/* Compares with `wanted`. A weighted word holds one count: the result is 1 if the count is at least `wanted`.
 * Other words hold two counts of 16 bits: bits 0 and 16 of the result say the same for each. */
template <bool Weighted>
static __device__ __forceinline__ uint32_t median_reaches(uint32_t counts, uint32_t wanted) {
    return Weighted ? counts >= wanted : ((counts + (0x8000 - wanted) * 0x10001) & 0x80008000) >> 15;
}

/* The largest value for which the samples below it are less than `wanted`. The first count is of all samples
 * and stands for the value 0. */
template <bool Weighted>
static __device__ __forceinline__ int median_search(const struct median_strip &strip, int x,
                                                    uint32_t wanted) {
    const uint4 *left = strip.memory.sums + median_place(x);
    const uint4 *right = strip.memory.sums + median_place(x + strip.side);
    uint32_t reached = 0;
#pragma unroll
    for (int k = 0; k < median_kind<Weighted>::SUMS / 4; k++) {
        const uint4 a = left[k * MEDIAN_LANE * KERNEL_MEDIAN_PITCH],
                    b = right[k * MEDIAN_LANE * KERNEL_MEDIAN_PITCH];
        reached += median_reaches<Weighted>(b.x - a.x, wanted) + median_reaches<Weighted>(b.y - a.y, wanted) +
                   median_reaches<Weighted>(b.z - a.z, wanted) + median_reaches<Weighted>(b.w - a.w, wanted);
    }
    return MEDIAN_VALUES - (int)((reached & 0xffff) + (reached >> 16));
}

/* Finds the upper bits of the medians of row y, and returns the set of them that the lane has met. */
template <bool Weighted>
static __device__ __forceinline__ uint32_t median_find_upper(const struct median_strip &strip, int y) {
    uint32_t set = 0;
    for (int x = (int)threadIdx.x; x < strip.width; x += KERNEL_THREADS_X) {
        uint32_t wanted = Weighted ? (median_count<true>(strip, x, 0) + 1) / 2
                                   : (uint32_t)(strip.side * strip.height) / 2 + 1;
        int value = median_search<Weighted>(strip, x, wanted);
        uint32_t rank = wanted - (value > 0 ? median_count<Weighted>(strip, x, value) : 0);
        rank |= (uint32_t)value << median_kind<Weighted>::RANK_BITS;
        if (Weighted) {
            strip.memory.ranked[y * strip.width + x] = rank;
        } else {
            strip.memory.found[y * strip.width + x] = (uint16_t)rank;
        }
        set |= 1u << value;
    }
    return set;
}

/* Stores the medians of row y that have these upper bits. Colour that cannot be seen is 0; the lane has
 * stored alpha before. */
template <bool Weighted, bool Alpha>
static __device__ __forceinline__ void median_find_lower(const struct median_pass &pass,
                                                         const struct median_plane &plane,
                                                         const struct median_strip &strip, int y, int upper) {
    uint8_t *to = row_of<uint8_t>(plane.target, strip.y + y) + strip.x * pass.channels;
    for (int x = (int)threadIdx.x; x < strip.width; x += KERNEL_THREADS_X) {
        int at = y * strip.width + x, pixel = x * pass.channels;
        uint32_t rank = Weighted ? strip.memory.ranked[at] : strip.memory.found[at];
        if ((int)(rank >> median_kind<Weighted>::RANK_BITS) == upper) {
            rank &= (1u << median_kind<Weighted>::RANK_BITS) - 1;
            int value = upper * MEDIAN_VALUES + median_search<Weighted>(strip, x, rank);
            bool hidden = Alpha && Weighted && to[pixel + pass.channels - 1] == 0;
            to[pixel + strip.channel] = (uint8_t)(hidden ? 0 : value);
        }
    }
}

/* ---- runs ---- */

/* Goes down the strip. The first run returns in lane y the set of upper bits of row y; a run for upper bits
 * stores medians in the rows that are in `wanted`. */
template <bool Weighted, bool Alpha>
static __device__ __noinline__ uint32_t median_run(const struct median_pass &pass,
                                                   const struct median_plane &plane,
                                                   const struct median_strip &strip, int upper,
                                                   uint32_t wanted) {
    uint32_t count[MEDIAN_LANE][median_kind<Weighted>::COUNTS] = {}, kept = 0;
    int row = strip.first;
    for (; row < strip.first + strip.height - 1; row++) {
        median_slide<Weighted, true>(count, strip.memory, row, upper);
    }
    for (int y = 0; y < strip.rows && wanted >> y; y++, row++) {
        median_slide<Weighted, true>(count, strip.memory, row, upper);
        if (wanted >> y & 1) {
            median_sum<Weighted>(strip.memory.sums, count);
            if (upper == MEDIAN_EVERY) {
                uint32_t set = median_find_upper<Weighted>(strip, y);
                for (int distance = KERNEL_THREADS_X / 2; distance > 0; distance /= 2) {
                    set |= __shfl_sync(0xffffffffu, set, (int)threadIdx.x ^ distance);
                }
                kept = (int)threadIdx.x == y ? set : kept;
            } else {
                median_find_lower<Weighted, Alpha>(pass, plane, strip, y, upper);
            }
            __syncwarp();
        }
        median_slide<Weighted, false>(count, strip.memory, row - strip.height + 1, upper);
    }
    return kept;
}

template <bool Weighted, bool Alpha>
static __device__ __forceinline__ void median_channel(const struct median_pass &pass,
                                                      const struct median_plane &plane,
                                                      const struct median_strip &strip) {
    if (strip.rows <= 0) {
        return;
    }
    const uint32_t set = median_run<Weighted, Alpha>(pass, plane, strip, MEDIAN_EVERY, ~0u);
    for (int upper = 0; upper < MEDIAN_VALUES; upper++) {
        uint32_t rows = __ballot_sync(0xffffffffu, set >> upper & 1);
        if (rows) {
            median_run<Weighted, Alpha>(pass, plane, strip, upper, rows);
        }
    }
}

/* ---- blocks ---- */

/* Loads a channel of the rows of the tile and of its margins. */
static __device__ __forceinline__ void median_load(const struct median_pass &pass,
                                                   const struct median_plane &plane, uint8_t *to, int x,
                                                   int y, int rows, int channel, int border) {
    int from_x[MEDIAN_LANE];
#pragma unroll
    for (int i = 0; i < MEDIAN_LANE; i++) {
        int column = (int)threadIdx.x + i * KERNEL_THREADS_X;
        from_x[i] = fold(x - plane.radius_x + column, plane.source.width, plane.source.edge_x);
    }
    for (int row = (int)threadIdx.y; row < rows; row += (int)blockDim.y) {
        int from_y = fold(y - plane.radius_y + row, plane.source.height, plane.source.edge_y);
        const uint8_t *from = row_of<const uint8_t>(plane.source, from_y);
#pragma unroll
        for (int i = 0; i < MEDIAN_LANE; i++) {
            bool outside = from_y == OUTSIDE || from_x[i] == OUTSIDE;
            to[row * KERNEL_MEDIAN_COLUMNS + (int)threadIdx.x + i * KERNEL_THREADS_X] =
                outside ? (uint8_t)border : from[from_x[i] * pass.channels + channel];
        }
    }
}

/* Blocks of one tile follow each other: one for each channel, or one for all with alpha. */
template <bool Alpha>
static __device__ __forceinline__ struct median_strip
median_strip_of(const struct median_pass &pass, const struct median_plane &plane, int &rows, int &y) {
    const int parts = Alpha ? 1 : pass.channels, index = (int)blockIdx.x - plane.tiles.first_tile;
    const int tile = index / parts, tile_y = tile / plane.tiles.tiles_x;
    const int height = plane.tiles.height / (int)blockDim.y;
    y = tile_y * plane.tiles.height;
    rows = min(plane.tiles.height, plane.target.height - y) + 2 * plane.radius_y;
    struct median_strip strip;
    strip.side = 2 * plane.radius_x + 1;
    strip.height = 2 * plane.radius_y + 1;
    strip.x = (tile - tile_y * plane.tiles.tiles_x) * plane.tiles.width;
    strip.width = min(plane.tiles.width, plane.target.width - strip.x);
    strip.first = (int)threadIdx.y * height;
    strip.y = y + strip.first;
    strip.rows = min(height, plane.target.height - strip.y);
    strip.channel = index % parts;
    strip.memory =
        median_memory_of<Alpha>(plane.tiles.height + 2 * plane.radius_y, height * plane.tiles.width);
    return strip;
}

template <bool Alpha> static __device__ __forceinline__ void median_block(const struct median_pass &pass) {
    const struct median_plane &plane = pass.plane[plane_of(pass)];
    int rows, y;
    struct median_strip strip = median_strip_of<Alpha>(pass, plane, rows, y);
    median_fill_steps(strip.memory.steps);
    const int last = pass.channels - 1;
    if (!Alpha) {
        median_load(pass, plane, strip.memory.sample, strip.x, y, rows, strip.channel, plane.border);
        __syncthreads();
        median_channel<false, false>(pass, plane, strip);
        return;
    }
    median_load(pass, plane, strip.memory.weight, strip.x, y, rows, last, 0);
    for (strip.channel = last; strip.channel >= 0; strip.channel--) {
        median_load(pass, plane, strip.memory.sample, strip.x, y, rows, strip.channel, 0);
        __syncthreads();
        if (strip.channel == last) {
            median_channel<false, true>(pass, plane, strip);
        } else {
            median_channel<true, true>(pass, plane, strip);
        }
        __syncthreads();
    }
}

#endif
