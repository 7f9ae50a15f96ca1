/* SPDX-License-Identifier: MIT
 * Both axes in one launch for small radii, in fixed-point arithmetic. Most requests need this kernel. The
 * loops are unrolled for one radius. Smaller radii pad it with weights of 0, which change no sum.
 *
 * A block makes 192 samples (64 pixels of RGB) by 16 rows; each thread has one part of either pass.
 * Vertically a thread makes 8 or 16 rows of four samples. Every pair of rows is loaded and interleaved once
 * and serves all sums, by the two-way dot product. Horizontally a thread makes 24 or 48 samples of a row. It
 * reads the values from shared memory, 16 bytes at a time without bank conflicts. The horizontal weights are
 * multiplied by 4, so that the result is the highest byte of the sum. The time of a launch is mostly the
 * latency of one block: so blocks are small, no load waits for another, and only blocks at the picture's
 * edges fold positions (docs/adr/0009). */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_DIRECT_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_DIRECT_CUH

#include "filters/blur/gpu/blur_column.cuh"

enum { DIRECT_ALIGN = 8 /* values in 16 bytes */ };

template <int Channels, int Radius> struct direct {
    static constexpr bool small = Radius <= KERNEL_DIRECT_SMALL;
    static constexpr int threads =
        KERNEL_THREADS_X * (small ? KERNEL_DIRECT_SMALL_THREADS_Y : KERNEL_DIRECT_THREADS_Y);
    static constexpr int rows = small ? 8 : 16; /* of a thread in the vertical pass */
    static constexpr int run = small ? 24 : 48; /* samples of a thread in the horizontal pass */
    static constexpr int runs = KERNEL_DIRECT_WIDTH / run;
    /* Values before and behind a run, and in a row of shared memory. */
    static constexpr int before = (Radius * Channels + DIRECT_ALIGN - 1) / DIRECT_ALIGN * DIRECT_ALIGN;
    static constexpr int groups = (before + KERNEL_DIRECT_WIDTH + Radius * Channels + 3) / KERNEL_GROUP;
    static constexpr int reads = (before + run + Radius * Channels + DIRECT_ALIGN - 1) / DIRECT_ALIGN;
    static constexpr int tasks = groups * (KERNEL_DIRECT_HEIGHT / rows);
    static_assert(tasks <= threads && runs * KERNEL_DIRECT_HEIGHT == threads, "one part for each thread");
    static_assert(groups * KERNEL_GROUP <= KERNEL_DIRECT_COLUMNS, "a row of shared memory");
    static_assert(KERNEL_DIRECT_WIDTH - run + reads * DIRECT_ALIGN <= KERNEL_DIRECT_COLUMNS,
                  "what a run reads");
    static_assert(KERNEL_DIRECT_HEIGHT + 2 * Radius <= KERNEL_ROW_TABLE, "all rows are in the table");
};

/* ---- vertical ---- */

template <int Channels, int Radius>
static __device__ __forceinline__ void direct_columns(const struct direct_plane &plane,
                                                      const struct tile &tile) {
    using shape = direct<Channels, Radius>;
    int first = tile.x * Channels - shape::before;
    int top = tile.y - Radius;
    bool inside = first >= 0 && first + shape::groups * KERNEL_GROUP <= plane.source.width * Channels &&
                  top >= 0 && top + KERNEL_DIRECT_HEIGHT + 2 * Radius <= plane.source.height;
    const int *table = inside ? (const int *)block_memory : fill_row_table(plane.source, top);
    int task = thread_number();
    if (task < shape::tasks) {
        int y = task / shape::groups * shape::rows;
        int at = task % shape::groups * KERNEL_GROUP;
        uint16_t *to = values_memory() + y * KERNEL_DIRECT_COLUMNS + at;
        uint32_t group[shape::rows + 2 * Radius];
        load_column<uint8_t, Channels>(plane.source, plane.border, first + at, top + y, table + y, group);
        sum_pairs<Radius, shape::rows>(plane.pair_y, group, [&](int i, const struct value_group &made) {
            *(uint2 *)(to + i * KERNEL_DIRECT_COLUMNS) = make_uint2(made.low, made.high);
        });
    }
}

/* ---- horizontal ---- */

/* Value i of the loaded words. */
template <int Reads>
static __device__ __forceinline__ uint32_t direct_value(const uint4 (&read)[Reads], int i) {
    const uint4 &four = read[i / 8];
    uint32_t word = i % 8 < 2 ? four.x : i % 8 < 4 ? four.y : i % 8 < 6 ? four.z : four.w;
    return i % 2 ? word >> 16 : word & 0xffff;
}

/* Makes the horizontal sums of a run. Their highest bytes are the samples. */
template <int Channels, int Radius>
static __device__ __forceinline__ void direct_run(const struct direct_plane &plane, const uint16_t *row,
                                                  uint32_t (&out)[direct<Channels, Radius>::run / 4]) {
    using shape = direct<Channels, Radius>;
    uint4 read[shape::reads];
#pragma unroll
    for (int i = 0; i < shape::reads; i++) {
        read[i] = *(const uint4 *)(row + i * DIRECT_ALIGN);
    }
    uint32_t value[shape::reads * DIRECT_ALIGN];
#pragma unroll
    for (int i = 0; i < shape::reads * DIRECT_ALIGN; i++) {
        value[i] = direct_value(read, i);
    }
#pragma unroll
    for (int i = 0; i < shape::run; i += 4) {
        uint32_t sum[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int centre = shape::before + i + k;
            sum[k] = (1u << 23) + plane.weight_x[0] * value[centre];
#pragma unroll
            for (int r = 1; r <= Radius; r++) {
                sum[k] += plane.weight_x[r] * (value[centre - r * Channels] + value[centre + r * Channels]);
            }
        }
        out[i / 4] =
            __byte_perm(__byte_perm(sum[0], sum[1], 0x0073), __byte_perm(sum[2], sum[3], 0x0073), 0x5410);
    }
}

/* Stores the bytes of two or four words, `count` at most. */
template <int Words>
static __device__ __forceinline__ void direct_put(uint8_t *to, const uint32_t *word, int count) {
    if (count >= 4 * Words) {
        if constexpr (Words == 4) {
            __stcg((uint4 *)to, make_uint4(word[0], word[1], word[2], word[3]));
        } else {
            __stcg((uint2 *)to, make_uint2(word[0], word[1]));
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * Words; i++) {
        if (i < count) {
            __stcg(to + i, (uint8_t)(word[i / 4] >> 8 * (i % 4)));
        }
    }
}

template <int Channels, int Radius>
static __device__ __forceinline__ void direct_rows(const struct direct_plane &plane,
                                                   const struct tile &tile) {
    using shape = direct<Channels, Radius>;
    constexpr int words = shape::run % 16 == 0 ? 4 : 2;
    /* Adjacent lanes read the same row, or eight different rows where one row would give bank conflicts. */
    int thread = thread_number();
    int y = shape::small ? thread / shape::runs : thread / (8 * shape::runs) * 8 + thread % 8;
    int at = (shape::small ? thread % shape::runs : thread / 8 % shape::runs) * shape::run;
    int count = plane.target.width * Channels - tile.x * Channels - at;
    if (y >= tile.height || count <= 0) {
        return;
    }
    uint32_t word[shape::run / 4];
    direct_run<Channels, Radius>(plane, values_memory() + y * KERNEL_DIRECT_COLUMNS + at, word);
    uint8_t *to = row_of<uint8_t>(plane.target, tile.y + y) + tile.x * Channels + at;
#pragma unroll
    for (int i = 0; i < shape::run / 4; i += words) {
        direct_put<words>(to + 4 * i, word + i, count - 4 * i);
    }
}

template <int Channels, int Radius>
static __device__ __forceinline__ void direct_tile(const struct direct_pass &pass) {
    const struct direct_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    direct_columns<Channels, Radius>(plane, tile);
    __syncthreads();
    direct_rows<Channels, Radius>(plane, tile);
}

#endif
