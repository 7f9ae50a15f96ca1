/* SPDX-License-Identifier: MIT
 * A window of 3x3 or 5x5 over samples of 8 bits without alpha. Each size and number of channels has a kernel,
 * so that all loops are unrolled and the weights are operands. A thread makes 4 rows of four adjacent
 * samples. It loads all words that they need at once from the picture (its neighbours find most of them in
 * the L1 cache) and goes through the rows from top to bottom. Sums are ordered as in convolve.cuh. */
#ifndef BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_SMALL_CUH
#define BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_SMALL_CUH

#include "filters/blur/gpu/blur_column.cuh"
#include "filters/convolve/gpu/convolve_quotient.cuh"

template <int Channels, int Side> struct small_window {
    static constexpr int rows = 4; /* of a thread, with KERNEL_GROUP samples each */
    static constexpr int height = rows + Side - 1;
    static constexpr int reach = Side / 2 * Channels;
    static constexpr int before = (reach + KERNEL_GROUP - 1) / KERNEL_GROUP; /* in words */
    static constexpr int words = 2 * before + 1;                             /* of a row */
    static constexpr int skipped = before * KERNEL_GROUP - reach; /* samples that no window reads */
    static constexpr int samples = KERNEL_GROUP + 2 * reach;      /* of a row */
    static constexpr int strips = KERNEL_CONVOLVE_SMALL_HEIGHT / rows;
    static constexpr int groups = KERNEL_CONVOLVE_SMALL_WIDTH / KERNEL_GROUP;
    static_assert(groups * strips == KERNEL_THREADS_X * KERNEL_CONVOLVE_SMALL_THREADS_Y,
                  "a part for each thread");
};

/* ---- samples ---- */

template <int Channels, int Side>
static __device__ __forceinline__ void
small_load(const struct kernel_grid &source, int at, int top, const int *table,
           uint32_t (&word)[small_window<Channels, Side>::words][small_window<Channels, Side>::height]) {
    using shape = small_window<Channels, Side>;
    if (at >= 0 && at + shape::words * KERNEL_GROUP <= source.width * Channels && top >= 0 &&
        top + shape::height <= source.height) {
        const char *first = row_of<const char>(source, top) + at;
        int stride = (int)source.stride;
#pragma unroll
        for (int y = 0; y < shape::height; y++) {
            const uint32_t *row = (const uint32_t *)(first + (int64_t)y * stride);
#pragma unroll
            for (int k = 0; k < shape::words; k++) {
                word[k][y] = __ldg(row + k);
            }
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < shape::words; k++) {
        load_column<uint8_t, Channels>(source, 0, at + k * KERNEL_GROUP, top, table, word[k]);
    }
}

/* Byte k of the word as a float: the mantissa of a number from 1 << 23 on, minus 1 << 23. */
static __device__ __forceinline__ float small_sample(uint32_t word, int k) {
    return __fadd_rn(__uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 + k)), -8388608.0f);
}

/* Loads row y of the windows of a group. */
template <int Channels, int Side>
static __device__ __forceinline__ void
small_row(const uint32_t (&word)[small_window<Channels, Side>::words][small_window<Channels, Side>::height],
          int y, float (&value)[small_window<Channels, Side>::samples]) {
    using shape = small_window<Channels, Side>;
#pragma unroll
    for (int i = 0; i < shape::samples; i++) {
        int from = i + shape::skipped;
        value[i] = small_sample(word[from / KERNEL_GROUP][y], from % KERNEL_GROUP);
    }
}

/* ---- sums ---- */

struct small_sums {
    float of[4][KERNEL_GROUP];
};

/* A sum begins with its first product. */
static __device__ __forceinline__ void small_add(float &sum, float weight, float value, bool first) {
    float product = __fmul_rn(weight, value);
    sum = first ? product : __fadd_rn(sum, product);
}

template <int Channels, int Side>
static __device__ __forceinline__ void
small_sum(const struct convolve_pass &pass,
          const uint32_t (&word)[small_window<Channels, Side>::words][small_window<Channels, Side>::height],
          struct small_sums &sums) {
    using shape = small_window<Channels, Side>;
#pragma unroll
    for (int y = 0; y < shape::height; y++) {
        float value[shape::samples];
        small_row<Channels, Side>(word, y, value);
#pragma unroll
        for (int r = 0; r < shape::rows; r++) {
            int k = y - r;
#pragma unroll
            for (int x = 0; x < Side && k >= 0 && k < Side; x++) {
                float weight = pass.weight[k * KERNEL_CONVOLVE_STRIDE + x];
#pragma unroll
                for (int i = 0; i < KERNEL_GROUP; i++) {
                    small_add(sums.of[r][i], weight, value[i + x * Channels], k == 0 && x == 0);
                }
            }
        }
    }
}

/* A separable window: sums the columns, then along the row. */
template <int Channels, int Side>
static __device__ __forceinline__ void small_sum_separable(
    const struct convolve_pass &pass,
    const uint32_t (&word)[small_window<Channels, Side>::words][small_window<Channels, Side>::height],
    struct small_sums &sums) {
    using shape = small_window<Channels, Side>;
    float column[shape::rows][shape::samples];
#pragma unroll
    for (int y = 0; y < shape::height; y++) {
        float value[shape::samples];
        small_row<Channels, Side>(word, y, value);
#pragma unroll
        for (int r = 0; r < shape::rows; r++) {
            int k = y - r;
#pragma unroll
            for (int i = 0; i < shape::samples && k >= 0 && k < Side; i++) {
                small_add(column[r][i], pass.column[k], value[i], k == 0);
            }
#pragma unroll
            for (int i = 0; i < Side * KERNEL_GROUP && k == Side - 1; i++) {
                int x = i / KERNEL_GROUP, at = i % KERNEL_GROUP;
                small_add(sums.of[r][at], pass.weight[x], column[r][at + x * Channels], x == 0);
            }
        }
    }
}

/* ---- results ---- */

/* Rounds half up and clamps to 0 and 255. The result is in the lowest byte. */
static __device__ __forceinline__ uint32_t small_round(float value) {
    value = fminf(fmaxf(__fadd_rn(value, 0.5f), 0.0f), 255.0f);
    return __float_as_uint(__fadd_rd(value, 8388608.0f));
}

/* A mask with 255 for each of four samples whose window lies inside the row. */
template <int Channels, int Side>
static __device__ __forceinline__ uint32_t small_inside(const struct kernel_grid &target, int at) {
    uint32_t mask = 0;
#pragma unroll
    for (int i = 0; i < KERNEL_GROUP; i++) {
        int x = (at + i) / Channels;
        mask |= x < Side / 2 || x >= target.width - Side / 2 ? 0 : 255u << 8 * i;
    }
    return mask;
}

/* Stores four samples, or fewer at the row's end. */
static __device__ __forceinline__ void small_put(uint8_t *to, uint32_t word, int count) {
    if (count >= KERNEL_GROUP) {
        __stcg((uint32_t *)to, word);
        return;
    }
#pragma unroll
    for (int i = 0; i < KERNEL_GROUP - 1; i++) {
        if (i < count) {
            __stcg(to + i, (uint8_t)(word >> 8 * i));
        }
    }
}

template <int Channels, int Side>
static __device__ __forceinline__ void small_store(const struct convolve_pass &pass, int at, int y,
                                                   const struct small_sums &sums) {
    const struct kernel_grid &target = pass.target;
    struct quotient quotient = {pass.divisor, pass.inverse};
    uint32_t mask = pass.frame ? small_inside<Channels, Side>(target, at) : ~0u;
#pragma unroll
    for (int r = 0; r < small_window<Channels, Side>::rows; r++, y++) {
        uint32_t byte[KERNEL_GROUP];
#pragma unroll
        for (int i = 0; i < KERNEL_GROUP; i++) {
            byte[i] = small_round(__fadd_rn(quotient.of(sums.of[r][i]), pass.bias));
        }
        uint32_t word =
            __byte_perm(__byte_perm(byte[0], byte[1], 0x0040), __byte_perm(byte[2], byte[3], 0x0040), 0x5410);
        bool framed = pass.frame && (y < Side / 2 || y >= target.height - Side / 2);
        if (y < target.height) {
            small_put(row_of<uint8_t>(target, y) + at, framed ? 0 : word & mask,
                      target.width * Channels - at);
        }
    }
}

template <int Channels, int Side>
static __device__ __forceinline__ void small_tile(const struct convolve_pass &pass) {
    using shape = small_window<Channels, Side>;
    struct tile tile = tile_of(pass.tiles, pass.target);
    int first = tile.x * Channels - shape::before * KERNEL_GROUP;
    int top = tile.y - Side / 2;
    bool inside = first >= 0 &&
                  first + (shape::groups + shape::words - 1) * KERNEL_GROUP <= pass.source.width * Channels &&
                  top >= 0 && top + KERNEL_CONVOLVE_SMALL_HEIGHT + Side - 1 <= pass.source.height;
    const int *table = inside ? (const int *)block_memory : fill_row_table(pass.source, top);
    int i = thread_number() % shape::groups * KERNEL_GROUP;
    int y = thread_number() / shape::groups * shape::rows;
    if (y >= tile.height || i >= tile.width * Channels) {
        return;
    }
    uint32_t word[shape::words][shape::height];
    struct small_sums sums;
    small_load<Channels, Side>(pass.source, first + i, top + y, table + y, word);
    if (pass.separable) {
        small_sum_separable<Channels, Side>(pass, word, sums);
    } else {
        small_sum<Channels, Side>(pass, word, sums);
    }
    small_store<Channels, Side>(pass, tile.x * Channels + i, tile.y + y, sums);
}

#endif
