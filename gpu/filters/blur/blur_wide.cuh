/* SPDX-License-Identifier: MIT
 * Both axes in one launch for radii up to 16, of the picture itself or of reduced values. The loops are
 * unrolled for radii of 8, 12 and 16. Smaller radii pad them with weights of 0, which change no sum. The
 * method is that of blur_direct.cuh. */
#ifndef BLURD_GPU_FILTERS_BLUR_BLUR_WIDE_CUH
#define BLURD_GPU_FILTERS_BLUR_BLUR_WIDE_CUH

#include "gpu/filters/blur/blur_column.cuh"

enum { WIDE_RUN = 8 /* samples of a thread in the horizontal pass, 16 bytes of values */ };

template <class In> struct wide_rows;
template <> struct wide_rows<uint8_t> { static constexpr int count = 8; };
template <> struct wide_rows<uint16_t> { static constexpr int count = 4; };

template <int Channels, int Radius> struct wide {
    static constexpr int reach = Radius * Channels;
    static constexpr int before = (reach + WIDE_RUN - 1) / WIDE_RUN * WIDE_RUN;
    static constexpr int needed = before + KERNEL_WIDE_WIDTH + reach;
    static constexpr int reads = (before + WIDE_RUN + reach + WIDE_RUN - 1) / WIDE_RUN;
    static_assert(before + KERNEL_WIDE_WIDTH + before <= KERNEL_WIDE_COLUMNS, "a row of shared memory");
};

/* ---- vertical ---- */

template <int Radius, int Rows, class Put>
static __device__ __forceinline__ void
wide_window(const struct wide_plane &plane, const uint32_t (&group)[Rows + 2 * Radius], const Put &put) {
    sum_pairs<Radius, Rows>(plane.pair_y, group, put);
}

/* The sum of two values is below 1 << 16, so symmetric taps are added before they are multiplied. */
template <int Radius, int Rows, class Put>
static __device__ __forceinline__ void wide_window(const struct wide_plane &plane,
                                                   const uint2 (&group)[Rows + 2 * Radius], const Put &put) {
#pragma unroll
    for (int i = 0; i < Rows; i++) {
        struct sums sum = {{1 << 15, 1 << 15, 1 << 15, 1 << 15}};
        const uint2 &centre = group[i + Radius];
        struct value_group values = {centre.x, centre.y};
        add_values(sum, plane.weight_y[0], values);
#pragma unroll
        for (int k = 1; k <= Radius; k++) {
            values.low = group[i + Radius - k].x + group[i + Radius + k].x;
            values.high = group[i + Radius - k].y + group[i + Radius + k].y;
            add_values(sum, plane.weight_y[k], values);
        }
        values.low = __byte_perm(sum.of[0], sum.of[1], 0x7632);
        values.high = __byte_perm(sum.of[2], sum.of[3], 0x7632);
        put(i, values);
    }
}

/* Rows of shared memory begin `before` samples in front of the tile, which may be the middle of a group of
 * values. */
static __device__ __forceinline__ void wide_put(uint16_t *row, int at, const struct value_group &made,
                                                bool aligned) {
    if (aligned) {
        *(uint2 *)(row + at) = make_uint2(made.low, made.high);
        return;
    }
#pragma unroll
    for (int k = 0; k < KERNEL_GROUP; k++) {
        uint32_t word = k & 2 ? made.high : made.low;
        if (at + k >= 0) {
            row[at + k] = (uint16_t)(k & 1 ? word >> 16 : word);
        }
    }
}

template <class In, int Channels, int Radius>
static __device__ __forceinline__ void wide_columns(const struct wide_plane &plane, const struct tile &tile) {
    using shape = wide<Channels, Radius>;
    constexpr int rows = wide_rows<In>::count;
    uint16_t *memory = values_memory();
    int begin = (tile.x + plane.target.lo_x - plane.source.lo_x) * Channels - shape::before;
    int top = tile.y + plane.target.lo_y - plane.source.lo_y - Radius;
    static_assert(KERNEL_WIDE_HEIGHT + 2 * Radius <= KERNEL_ROW_TABLE, "all rows are in the table");
    const int *table = fill_row_table(plane.source, top);
    int late = begin & (KERNEL_GROUP - 1);
    constexpr int groups = (shape::needed + 2 * KERNEL_GROUP - 2) / KERNEL_GROUP;
    static_assert(groups * KERNEL_GROUP <= KERNEL_WIDE_COLUMNS, "a row of shared memory");
    int strips = (tile.height + rows - 1) / rows, end = shape::before + tile.width * Channels + shape::reach;
    for (int task = thread_number(); task < groups * strips; task += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        int y = task / groups * rows;
        int at = task % groups * KERNEL_GROUP - late;
        if (at >= end) {
            continue; /* the tile is narrower */
        }
        typename group_of<In>::type group[rows + 2 * Radius];
        load_column<In, Channels>(plane.source, plane.border, begin + at, top + y, table + y, group);
        wide_window<Radius, rows>(plane, group, [&](int i, const struct value_group &made) {
            wide_put(memory + (y + i) * KERNEL_WIDE_COLUMNS, at, made, late == 0);
        });
    }
}

/* ---- horizontal ---- */

static __device__ __forceinline__ uint32_t wide_half(uint8_t) {
    return 1u << 23;
}

static __device__ __forceinline__ uint32_t wide_half(uint16_t) {
    return 1u << 15;
}

/* Stores the highest bytes of the sums. */
static __device__ __forceinline__ void wide_store(uint8_t *to, const uint32_t (&sum)[WIDE_RUN], int count) {
    if (count >= WIDE_RUN) {
        uint32_t a =
            __byte_perm(__byte_perm(sum[0], sum[1], 0x0073), __byte_perm(sum[2], sum[3], 0x0073), 0x5410);
        uint32_t b =
            __byte_perm(__byte_perm(sum[4], sum[5], 0x0073), __byte_perm(sum[6], sum[7], 0x0073), 0x5410);
        __stcg((uint2 *)to, make_uint2(a, b));
        return;
    }
#pragma unroll
    for (int i = 0; i < WIDE_RUN; i++) {
        if (i < count) {
            to[i] = (uint8_t)(sum[i] >> 24);
        }
    }
}

/* Stores the upper halves of the sums. Rows have room for whole runs. */
static __device__ __forceinline__ void wide_store(uint16_t *to, const uint32_t (&sum)[WIDE_RUN], int) {
    __stcg((uint4 *)to, make_uint4(__byte_perm(sum[0], sum[1], 0x7632), __byte_perm(sum[2], sum[3], 0x7632),
                                   __byte_perm(sum[4], sum[5], 0x7632), __byte_perm(sum[6], sum[7], 0x7632)));
}

template <class Out, int Channels, int Radius>
static __device__ __forceinline__ void wide_run(const struct wide_plane &plane, const uint16_t *row, Out *to,
                                                int count) {
    using shape = wide<Channels, Radius>;
    uint32_t value[shape::reads * WIDE_RUN];
#pragma unroll
    for (int i = 0; i < shape::reads; i++) {
        uint4 read = *(const uint4 *)(row + i * WIDE_RUN);
        const uint32_t word[] = {read.x, read.y, read.z, read.w};
#pragma unroll
        for (int k = 0; k < WIDE_RUN; k++) {
            value[i * WIDE_RUN + k] = k & 1 ? word[k / 2] >> 16 : word[k / 2] & 0xffff;
        }
    }
    uint32_t sum[WIDE_RUN];
#pragma unroll
    for (int i = 0; i < WIDE_RUN; i++) {
        int centre = shape::before + i;
        sum[i] = wide_half(Out()) + plane.weight_x[0] * value[centre];
#pragma unroll
        for (int k = 1; k <= Radius; k++) {
            sum[i] += plane.weight_x[k] * (value[centre - k * Channels] + value[centre + k * Channels]);
        }
    }
    wide_store(to, sum, count);
}

template <class Out, int Channels, int Radius>
static __device__ __forceinline__ void wide_rows_of(const struct wide_plane &plane, const struct tile &tile) {
    constexpr int runs = KERNEL_WIDE_WIDTH / WIDE_RUN;
    const uint16_t *memory = values_memory();
    for (int task = thread_number(); task < runs * tile.height; task += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        int y = task / runs;
        int at = task % runs * WIDE_RUN;
        int count = tile.width * Channels - at;
        if (count > 0) {
            Out *to = row_of<Out>(plane.target, tile.y + y) + tile.x * Channels + at;
            wide_run<Out, Channels, Radius>(plane, memory + y * KERNEL_WIDE_COLUMNS + at, to, count);
        }
    }
}

template <class Sample, int Channels, int Radius>
static __device__ __forceinline__ void wide_both(const struct wide_plane &plane, const struct tile &tile) {
    wide_columns<Sample, Channels, Radius>(plane, tile);
    __syncthreads();
    wide_rows_of<Sample, Channels, Radius>(plane, tile);
}

/* Makes samples of samples, or values of values. */
template <class Sample, int Channels>
static __device__ __forceinline__ void wide_tile(const struct wide_pass &pass) {
    const struct wide_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    if (plane.radius <= 8) {
        wide_both<Sample, Channels, 8>(plane, tile);
    } else if (plane.radius <= 12) {
        wide_both<Sample, Channels, 12>(plane, tile);
    } else {
        wide_both<Sample, Channels, 16>(plane, tile);
    }
}

#endif
