/* SPDX-License-Identifier: MIT
 * Weighted sums by matrix instructions (docs/adr/0044), for blur_wide.cuh. The weights of 16 adjacent sums
 * are a matrix with a row for each sum: the taps, moved by one from row to row. Sources are taken in *chunks*
 * of 16. An instruction multiplies bytes, so a weight times 2 is two of them, and a value, too. Values from
 * samples are taken times 2, those from values as they are. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_MATRIX_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_MATRIX_CUH

#include "filters/blur/gpu/blur_column.cuh"
#include "gpu/stream/matrix.cuh"

/* Lane l is (g, t) as in gpu/stream/matrix.cuh. */
static __device__ __forceinline__ int wide_row() {
    return (int)threadIdx.x / 4;
}

static __device__ __forceinline__ int wide_quad() {
    return (int)threadIdx.x % 4;
}

/* ---- weights ---- */

/* Shared memory has the weights four times, from the first, second, third and fourth byte on, so that a lane
 * finds any four of them in a word. */
static __device__ __forceinline__ uint32_t *wide_weights_memory() {
    return (uint32_t *)block_memory + KERNEL_ROW_TABLE;
}

static __device__ __forceinline__ char *wide_values_memory() {
    return (char *)(wide_weights_memory() + 4 * KERNEL_WIDE_WEIGHTS);
}

static __device__ __forceinline__ void wide_fill_weights(const struct wide_plane &plane) {
    int i = thread_number();
    if (i < KERNEL_WIDE_WEIGHTS) {
        uint32_t word = plane.weight[i], next = plane.weight[i + 1];
#pragma unroll
        for (int first = 0; first < 4; first++) {
            wide_weights_memory()[first * KERNEL_WIDE_WEIGHTS + i] = __funnelshift_r(word, next, 8 * first);
        }
    }
}

/* The weights of a sum for the lane's four sources of the first chunk; four words on are those of the next.
 */
static __device__ __forceinline__ const uint32_t *wide_weights(int table, int sum) {
    int from = KERNEL_WIDE_ZEROS - sum;
    return wide_weights_memory() + (from & 3) * KERNEL_WIDE_WEIGHTS + table + (from >> 2) + wide_quad();
}

/* Words of rows g and g + 8 of chunks, which instructions take two at a time, and of a column. */
template <int Chunks> struct wide_rows_of {
    uint4 two[Chunks / 2];
    uint2 last; /* of an odd number of chunks */
};

template <int Chunks> struct wide_column_of { uint32_t of[Chunks]; };

template <int Chunks>
static __device__ __forceinline__ struct wide_rows_of<Chunks> wide_row_weights(int table) {
    const uint32_t *weights = wide_weights(table, wide_row());
    struct wide_rows_of<Chunks> rows;
#pragma unroll
    for (int i = 0; i < Chunks / 2; i++) {
        rows.two[i] = make_uint4(weights[8 * i], weights[8 * i - 2], weights[8 * i + 4], weights[8 * i + 2]);
    }
    rows.last = make_uint2(weights[4 * Chunks - 4], weights[4 * Chunks - 6]);
    return rows;
}

template <int Chunks>
static __device__ __forceinline__ struct wide_column_of<Chunks> wide_column_weights(int table, int sum) {
    const uint32_t *weights = wide_weights(table, sum);
    struct wide_column_of<Chunks> column;
#pragma unroll
    for (int i = 0; i < Chunks; i++) {
        column.of[i] = weights[4 * i];
    }
    return column;
}

/* ---- sums ---- */

template <int Chunks>
static __device__ __forceinline__ void
wide_multiply(int32_t (&sum)[4], const struct wide_rows_of<Chunks> &rows, const uint32_t *column) {
#pragma unroll
    for (int i = 0; i < Chunks / 2; i++) {
        matrix_multiply(sum, sum, rows.two[i], make_uint2(column[2 * i], column[2 * i + 1]));
    }
    if (Chunks % 2 == 1) {
        matrix_multiply_half(sum, sum, rows.last, column[Chunks - 1]);
    }
}

/* Sums of products of upper bytes, of upper with lower ones, and of lower ones. */
struct wide_sums {
    int32_t high[4], middle[4], low[4];
};

/* Half of a unit is added beforehand: 1 << 23 as 128 to the upper sums, or 1 << 15 as 128 to the middle. */
static __device__ __forceinline__ struct wide_sums wide_begin(int32_t high, int32_t middle) {
    return {{high, high, high, high}, {middle, middle, middle, middle}, {0, 0, 0, 0}};
}

/* The sums without their lower 16 bits. */
static __device__ __forceinline__ void wide_finish(const struct wide_sums &sums, uint32_t (&made)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t middle = (uint32_t)sums.middle[i] + ((uint32_t)sums.low[i] >> 8);
        made[i] = (uint32_t)sums.high[i] + (middle >> 8);
    }
}

template <int Chunks>
static __device__ __forceinline__ void
wide_add(struct wide_sums &sums, const struct wide_rows_of<Chunks> &high,
         const struct wide_rows_of<Chunks> &low, const uint32_t *column_high, const uint32_t *column_low) {
    wide_multiply(sums.high, high, column_high);
    wide_multiply(sums.middle, high, column_low);
    wide_multiply(sums.middle, low, column_high);
    wide_multiply(sums.low, low, column_low);
}

#endif
