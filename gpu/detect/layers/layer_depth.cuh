/* SPDX-License-Identifier: MIT
 * Depthwise layers. A thread makes a word of channels of a few pixels one below the other. It turns each four
 * words side by side into four columns of each channel, which one instruction multiplies by weights. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_DEPTH_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_DEPTH_CUH

#include "gpu/detect/layers/layer_finish.cuh"
#include "gpu/stream/dot.cuh"

/* A row of a window: for each four columns the words of the channels, whose bytes are the columns. */
template <int Size> struct layer_line { uint32_t of[(Size + 3) / 4][KERNEL_LAYER_WORD]; };

/* Four words of channels become four words of columns. */
static __device__ __forceinline__ void layer_transpose(uint32_t word[KERNEL_LAYER_WORD]) {
    uint32_t a = __byte_perm(word[0], word[1], 0x5140), b = __byte_perm(word[2], word[3], 0x5140);
    uint32_t c = __byte_perm(word[0], word[1], 0x7362), d = __byte_perm(word[2], word[3], 0x7362);
    word[0] = __byte_perm(a, b, 0x5410);
    word[1] = __byte_perm(a, b, 0x7632);
    word[2] = __byte_perm(c, d, 0x5410);
    word[3] = __byte_perm(c, d, 0x7632);
}

/* What a thread works on. */
struct layer_strip {
    int word;
    int x, y; /* of its first pixel */
};

/* Where the columns of a thread's windows lie in a row of the source. A bit of `inside` is set for each
 * column that exists; the others are loaded from a column that does, and replaced afterwards, because loads
 * without a condition need not wait for each other. */
template <int Size> struct layer_columns {
    int at[Size];
    uint32_t inside;
};

template <int Size>
static __device__ __forceinline__ struct layer_columns<Size>
layer_columns_of(const struct layer_depth_pass &pass, int word, int left) {
    struct layer_columns<Size> columns = {};
#pragma unroll
    for (int i = 0; i < Size; i++) {
        columns.at[i] = min(max(left + i, 0), pass.width - 1) * pass.words + word;
        columns.inside |= (unsigned)(left + i) < (unsigned)pass.width ? 1u << i : 0;
    }
    return columns;
}

template <int Size>
static __device__ __forceinline__ struct layer_line<Size>
layer_read_line(const struct layer_depth_pass &pass, const struct layer_columns<Size> &columns, int y) {
    const int64_t row = (int64_t)min(max(y, 0), pass.height - 1) * pass.width;
    const uint32_t *from = (const uint32_t *)pass.source + row * pass.words;
    const uint32_t inside = (unsigned)y < (unsigned)pass.height ? columns.inside : 0;
    struct layer_line<Size> line;
#pragma unroll
    for (int i = 0; i < (Size + 3) / 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int column = 4 * i + j;
            const uint32_t value = column < Size ? __ldg(from + columns.at[column < Size ? column : 0]) : 0;
            line.of[i][j] = inside >> column & 1 ? value : pass.zero;
        }
        layer_transpose(line.of[i]);
    }
    return line;
}

template <int Size>
static __device__ __forceinline__ void layer_add_line(int32_t sums[KERNEL_LAYER_WORD],
                                                      const struct layer_line<Size> &line,
                                                      const uint4 weights[(Size + 3) / 4]) {
#pragma unroll
    for (int i = 0; i < (Size + 3) / 4; i++) {
        sums[0] = dot_four_mixed(line.of[i][0], (int32_t)weights[i].x, sums[0]);
        sums[1] = dot_four_mixed(line.of[i][1], (int32_t)weights[i].y, sums[1]);
        sums[2] = dot_four_mixed(line.of[i][2], (int32_t)weights[i].z, sums[2]);
        sums[3] = dot_four_mixed(line.of[i][3], (int32_t)weights[i].w, sums[3]);
    }
}

/* Each row of the source is read once, and each row of weights, when the first pixel needs it. */
template <int Size, int Stride>
static __device__ __forceinline__ void layer_filter(const struct layer_depth_pass &pass,
                                                    const struct layer_strip &strip,
                                                    int32_t sums[KERNEL_LAYER_RUN][KERNEL_LAYER_WORD]) {
    constexpr int groups = (Size + 3) / 4;
    const uint4 *from = (const uint4 *)pass.weights + strip.word;
    const int top = strip.y * Stride - Size / 2;
    const struct layer_columns<Size> columns =
        layer_columns_of<Size>(pass, strip.word, strip.x * Stride - Size / 2);
    uint4 weights[Size][groups];
#pragma unroll
    for (int y = 0; y < (KERNEL_LAYER_RUN - 1) * Stride + Size; y++) {
#pragma unroll
        for (int i = 0; i < (y < Size ? groups : 0); i++) {
            weights[y < Size ? y : 0][i] = __ldg(from + (y * groups + i) * pass.words);
        }
        const struct layer_line<Size> line = layer_read_line<Size>(pass, columns, top + y);
#pragma unroll
        for (int run = 0; run < KERNEL_LAYER_RUN; run++) {
            const int row = y - run * Stride;
            if (row >= 0 && row < Size) {
                layer_add_line<Size>(sums[run], line, weights[row >= 0 && row < Size ? row : 0]);
            }
        }
    }
}

template <int Size, int Stride>
static __device__ __forceinline__ void layer_depth(const struct layer_depth_pass &pass) {
    const int beside = KERNEL_THREADS_X * KERNEL_THREADS_Y / pass.words; /* strips of a block of threads */
    const int index = layer_thread() / pass.words, word = layer_thread() - index * pass.words;
    const int strip_index = (int)blockIdx.x * beside + index, row = strip_index / pass.out_width;
    const struct layer_strip strip = {word, strip_index - row * pass.out_width, row * KERNEL_LAYER_RUN};
    int32_t sums[KERNEL_LAYER_RUN][KERNEL_LAYER_WORD];
    layer_load_table(pass.finish);
    if (index >= beside || strip.y >= pass.out_height) {
        return;
    }
    const uint4 bias = __ldg((const uint4 *)pass.biases + word);
#pragma unroll
    for (int run = 0; run < KERNEL_LAYER_RUN; run++) {
        sums[run][0] = (int32_t)bias.x, sums[run][1] = (int32_t)bias.y;
        sums[run][2] = (int32_t)bias.z, sums[run][3] = (int32_t)bias.w;
    }
    layer_filter<Size, Stride>(pass, strip, sums);
    const uint4 scale = __ldg((const uint4 *)pass.scales + word);
#pragma unroll
    for (int run = 0; run < KERNEL_LAYER_RUN; run++) {
        if (strip.y + run < pass.out_height) {
            const int64_t at = ((int64_t)(strip.y + run) * pass.out_width + strip.x) * pass.words + word;
            const uint32_t addend = pass.finish.addend ? __ldg((const uint32_t *)pass.finish.addend + at) : 0;
            ((uint32_t *)pass.target)[at] = layer_bytes(
                pass.finish, layer_scaled(sums[run][0], sums[run][1], sums[run][2], sums[run][3], scale),
                addend);
        }
    }
}

#endif
