/* SPDX-License-Identifier: MIT
 * Both axes in one launch for small radii, in integer arithmetic: what most requests need. The loops
 * are unrolled for a radius; smaller ones pad it with weights of 0, which change no sum.
 *
 * A block makes 192 samples (64 pixels of RGB) by 32 rows. Vertically a thread makes 8 rows of four
 * samples: every pair of rows is loaded and interleaved once and serves all 8 sums, by the two-way
 * dot product. Horizontally it makes 24 samples of a row from shared memory, whose rows are
 * read 16 bytes at a time without bank conflicts. Weights of that pass are times 4, so that the
 * result is the highest byte of the sum. */
#ifndef BLURD_GPU_BLUR_DIRECT_CUH
#define BLURD_GPU_BLUR_DIRECT_CUH

#include "gpu/blur_grid.cuh"

enum {
    DIRECT_ROWS = 8,  /* that a thread makes in the vertical pass */
    DIRECT_RUN = 24,  /* samples that it makes in the horizontal one */
    DIRECT_ALIGN = 8, /* values in 16 bytes */
};

template <int Channels, int Radius> struct direct {
    /* The values before and behind a run, and those of a row of shared memory. */
    static constexpr int before = (Radius * Channels + DIRECT_ALIGN - 1) / DIRECT_ALIGN * DIRECT_ALIGN;
    static constexpr int groups = (before + KERNEL_DIRECT_WIDTH + Radius * Channels + 3) / KERNEL_GROUP;
    static constexpr int reads = (before + DIRECT_RUN + Radius * Channels + DIRECT_ALIGN - 1) / DIRECT_ALIGN;
    static constexpr int window = DIRECT_ROWS + 2 * Radius;
    static_assert(window % 2 == 0, "rows are taken in pairs");
    static_assert((groups + 1) * KERNEL_GROUP <= KERNEL_DIRECT_COLUMNS, "a row of shared memory");
};

/* Four samples of each row. Where they are not adjacent, at the sides, they are gathered. */
struct direct_column {
    int at[KERNEL_GROUP];
    bool adjacent;
};

template <int Channels>
static __device__ __forceinline__ struct direct_column direct_column_at(const struct direct_plane &plane,
                                                                        int at) {
    struct direct_column column;
    column.at[0] = at;
    column.adjacent = at >= 0 && at + KERNEL_GROUP <= plane.source.width * Channels;
    for (int k = 0; k < KERNEL_GROUP && !column.adjacent; k++) {
        int x = floor_divide(at + k, Channels);
        int folded = fold(x, plane.source.width, plane.source.edge_x);
        column.at[k] = folded == OUTSIDE ? OUTSIDE : folded * Channels + at + k - x * Channels;
    }
    return column;
}

static __device__ __forceinline__ uint32_t direct_load(const struct direct_plane &plane,
                                                       const struct direct_column &column, int y) {
    y = fold(y, plane.source.height, plane.source.edge_y);
    if (y == OUTSIDE) {
        return plane.border * 0x01010101u;
    }
    const uint8_t *row = row_of<const uint8_t>(plane.source, y);
    if (column.adjacent) {
        return *(const uint32_t *)(row + column.at[0]);
    }
    uint32_t word = 0;
    for (int k = 0; k < KERNEL_GROUP; k++) {
        word |= (column.at[k] == OUTSIDE ? plane.border : (uint32_t)row[column.at[k]]) << 8 * k;
    }
    return word;
}

/* The window of rows from `top` on; inside the picture without looking at each. */
template <int Window>
static __device__ __forceinline__ void direct_load_all(const struct direct_plane &plane,
                                                       const struct direct_column &column, int top,
                                                       uint32_t word[Window]) {
    if (column.adjacent && top >= 0 && top + Window <= plane.source.height) {
        const uint8_t *row = row_of<const uint8_t>(plane.source, top) + column.at[0];
#pragma unroll
        for (int i = 0; i < Window; i++) {
            word[i] = *(const uint32_t *)row;
            row += plane.source.stride;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < Window; i++) {
        word[i] = direct_load(plane, column, top + i);
    }
}

/* Vertical sums of 8 rows of four samples, into shared memory at `out`. */
template <int Radius>
static __device__ __forceinline__ void
direct_columns(const struct direct_plane &plane, const struct direct_column &column, int top, uint16_t *out) {
    constexpr int window = DIRECT_ROWS + 2 * Radius;
    uint32_t word[window];
    uint32_t sum[DIRECT_ROWS][KERNEL_GROUP];
    direct_load_all<window>(plane, column, top, word);
#pragma unroll
    for (int i = 0; i < DIRECT_ROWS; i++) {
        sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 128; /* half of 1 << 8 */
    }
#pragma unroll
    for (int j = 0; j < window; j += 2) {
        uint32_t low = __byte_perm(word[j], word[j + 1], 0x5140);
        uint32_t high = __byte_perm(word[j], word[j + 1], 0x7362);
#pragma unroll
        for (int i = 0; i < DIRECT_ROWS; i++) {
            if (j - i >= -1 && j - i <= 2 * Radius) {
                uint32_t weights = plane.pair_y[j - i + 1];
                sum[i][0] = __dp2a_lo(weights, low, sum[i][0]);
                sum[i][1] = __dp2a_hi(weights, low, sum[i][1]);
                sum[i][2] = __dp2a_lo(weights, high, sum[i][2]);
                sum[i][3] = __dp2a_hi(weights, high, sum[i][3]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < DIRECT_ROWS; i++) { /* a sum has 23 bits, of which the upper 15 stay */
        *(uint2 *)(out + i * KERNEL_DIRECT_COLUMNS) =
            make_uint2(__byte_perm(sum[i][0], sum[i][1], 0x6521), __byte_perm(sum[i][2], sum[i][3], 0x6521));
    }
}

/* Value i of `reads` times 16 bytes. */
template <int Reads>
static __device__ __forceinline__ uint32_t direct_value(const uint4 (&read)[Reads], int i) {
    const uint4 &four = read[i / 8];
    uint32_t word = i % 8 < 2 ? four.x : i % 8 < 4 ? four.y : i % 8 < 6 ? four.z : four.w;
    return i % 2 ? word >> 16 : word & 0xffff;
}

/* The horizontal sums of a run; the highest bytes are the samples. */
template <int Channels, int Radius>
static __device__ __forceinline__ void direct_run(const struct direct_plane &plane, const uint16_t *row,
                                                  uint32_t out[DIRECT_RUN / 4]) {
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
    for (int i = 0; i < DIRECT_RUN; i += 4) {
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

static __device__ __forceinline__ void direct_store(uint8_t *to, const uint32_t word[DIRECT_RUN / 4],
                                                    int count) {
    if (count >= DIRECT_RUN) {
#pragma unroll
        for (int i = 0; i < DIRECT_RUN / 8; i++) {
            ((uint2 *)to)[i] = make_uint2(word[2 * i], word[2 * i + 1]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < DIRECT_RUN; i++) {
        if (i < count) {
            to[i] = (uint8_t)(word[i / 4] >> 8 * (i % 4));
        }
    }
}

template <int Channels, int Radius>
static __device__ __forceinline__ void direct_tile(const struct direct_pass &pass) {
    using shape = direct<Channels, Radius>;
    const struct direct_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    uint16_t *memory = (uint16_t *)block_memory;
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int first = tile.x * Channels - shape::before;
    for (int task = thread; task < shape::groups * (KERNEL_DIRECT_HEIGHT / DIRECT_ROWS);
         task += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        int rows = task / shape::groups * DIRECT_ROWS;
        int group = task % shape::groups * KERNEL_GROUP;
        struct direct_column column = direct_column_at<Channels>(plane, first + group);
        direct_columns<Radius>(plane, column, tile.y + rows - Radius,
                               memory + rows * KERNEL_DIRECT_COLUMNS + group);
    }
    __syncthreads();
    constexpr int runs = KERNEL_DIRECT_WIDTH / DIRECT_RUN;
    int y = thread / runs;
    int at = thread % runs * DIRECT_RUN;
    int count = tile.width * Channels - at;
    if (y < tile.height && count > 0) {
        uint32_t word[DIRECT_RUN / 4];
        direct_run<Channels, Radius>(plane, memory + y * KERNEL_DIRECT_COLUMNS + at, word);
        direct_store(row_of<uint8_t>(plane.target, tile.y + y) + tile.x * Channels + at, word, count);
    }
}

#endif
