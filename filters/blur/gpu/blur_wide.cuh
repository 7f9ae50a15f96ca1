/* SPDX-License-Identifier: MIT
 * Both axes in one launch for radii up to 16, of the picture itself or of reduced values, by matrix
 * instructions: see blur_matrix.cuh.
 *
 * Vertically a warp makes 32 columns of the tile from the rows of the source, which a lane loads in groups of
 * four samples. It transposes four groups, so that a word has four samples of a column. Shared memory has the
 * upper bytes of all values, then the lower ones. Horizontally a warp makes 16 rows of 64 samples. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_WIDE_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_WIDE_CUH

#include "filters/blur/gpu/blur_matrix.cuh"

enum {
    WIDE_CHUNK = 16,
    WIDE_STRIP = 32, /* columns of a warp in the vertical pass */
    WIDE_RUN = 4,    /* chunks of a warp in the horizontal pass */
    WIDE_PLANE = KERNEL_WIDE_HEIGHT * KERNEL_WIDE_PITCH,
};

/* ---- vertical ---- */

/* Chunks of four columns of the source, as bytes: samples, or the lower and the upper half of values. */
template <class In, int Chunks> struct wide_source {
    struct wide_column_of<Chunks> of[sizeof(In)][KERNEL_GROUP];
};

static __device__ __forceinline__ uint32_t wide_lower(uint32_t a, uint32_t b) {
    return __byte_perm(a, b, 0x5410);
}

static __device__ __forceinline__ uint32_t wide_upper(uint32_t a, uint32_t b) {
    return __byte_perm(a, b, 0x7632);
}

template <int Chunks>
static __device__ __forceinline__ void wide_transpose(struct wide_source<uint8_t, Chunks> &source, int i,
                                                      const uint32_t *row) {
    uint32_t a = __byte_perm(row[0], row[1], 0x5140), b = __byte_perm(row[2], row[3], 0x5140);
    source.of[0][0].of[i] = wide_lower(a, b);
    source.of[0][1].of[i] = wide_upper(a, b);
    a = __byte_perm(row[0], row[1], 0x7362), b = __byte_perm(row[2], row[3], 0x7362);
    source.of[0][2].of[i] = wide_lower(a, b);
    source.of[0][3].of[i] = wide_upper(a, b);
}

template <int Chunks>
static __device__ __forceinline__ void wide_transpose(struct wide_source<uint16_t, Chunks> &source, int i,
                                                      const uint2 *row) {
#pragma unroll
    for (int k = 0; k < KERNEL_GROUP; k++) {
        const uint32_t selector = k % 2 ? 0x7362 : 0x5140;
        uint32_t a =
            k < 2 ? __byte_perm(row[0].x, row[1].x, selector) : __byte_perm(row[0].y, row[1].y, selector);
        uint32_t b =
            k < 2 ? __byte_perm(row[2].x, row[3].x, selector) : __byte_perm(row[2].y, row[3].y, selector);
        source.of[0][k].of[i] = wide_lower(a, b);
        source.of[1][k].of[i] = wide_upper(a, b);
    }
}

/* The weights of the vertical pass. */
template <int Chunks> struct wide_vertical { struct wide_rows_of<Chunks> high, low; };

/* Makes 16 rows of a column, from chunk i of the source on. */
template <int Chunks, int All>
static __device__ __forceinline__ void wide_column(const struct wide_vertical<Chunks> &weights,
                                                   const struct wide_source<uint8_t, All> &source, int k,
                                                   int i, uint32_t (&made)[4]) {
    int32_t high[4] = {1, 1, 1, 1}, low[4] = {0, 0, 0, 0}; /* half of 1 << 9 is added beforehand */
    wide_multiply(high, weights.high, source.of[0][k].of + i);
    wide_multiply(low, weights.low, source.of[0][k].of + i);
#pragma unroll
    for (int n = 0; n < 4; n++) {
        made[n] = (uint32_t)high[n] + ((uint32_t)low[n] >> 8);
    }
}

template <int Chunks, int All>
static __device__ __forceinline__ void wide_column(const struct wide_vertical<Chunks> &weights,
                                                   const struct wide_source<uint16_t, All> &source, int k,
                                                   int i, uint32_t (&made)[4]) {
    struct wide_sums sums = wide_begin(0, 128);
    wide_add(sums, weights.high, weights.low, source.of[1][k].of + i, source.of[0][k].of + i);
    wide_finish(sums, made);
}

/* Stores eight values. A value that comes from samples is even. */
template <class In>
static __device__ __forceinline__ void wide_put(char *to, const uint32_t (&made)[KERNEL_GROUP][4], int n) {
    const uint32_t even = sizeof(In) == 1 ? 0xfefefefe : 0xffffffff;
    uint32_t a = wide_lower(made[0][n], made[1][n]), b = wide_lower(made[2][n], made[3][n]);
    uint32_t c = wide_lower(made[0][n + 1], made[1][n + 1]), d = wide_lower(made[2][n + 1], made[3][n + 1]);
    *(uint2 *)to = make_uint2(__byte_perm(a, b, 0x7531), __byte_perm(c, d, 0x7531));
    *(uint2 *)(to + WIDE_PLANE) =
        make_uint2(__byte_perm(a, b, 0x6420) & even, __byte_perm(c, d, 0x6420) & even);
}

/* Makes a strip of the tile from sample `at` of a row on. */
template <class In, int Channels, int Chunks>
static __device__ __forceinline__ void wide_strip(const struct wide_plane &plane,
                                                  const struct wide_vertical<Chunks> &weights,
                                                  const struct tile &tile, int at, char *to) {
    constexpr int all = Chunks + KERNEL_WIDE_HEIGHT / WIDE_CHUNK - 1;
    static_assert(all * WIDE_CHUNK <= KERNEL_ROW_TABLE, "all rows are in the table");
    int first = KERNEL_GROUP * wide_quad();
    int top = tile.y + plane.target.lo_y - plane.source.lo_y - plane.radius_y + first;
    typename group_of<In>::type group[all * KERNEL_GROUP];
    load_column<In, Channels, WIDE_CHUNK>(plane.source, plane.border, at + wide_row() * KERNEL_GROUP, top,
                                          (const int *)block_memory + first, group);
    struct wide_source<In, all> source;
#pragma unroll
    for (int i = 0; i < all; i++) {
        wide_transpose(source, i, group + i * KERNEL_GROUP);
    }
#pragma unroll
    for (int i = 0; i < KERNEL_WIDE_HEIGHT / WIDE_CHUNK; i++) {
        uint32_t made[KERNEL_GROUP][4];
#pragma unroll
        for (int k = 0; k < KERNEL_GROUP; k++) {
            wide_column(weights, source, k, i, made[k]);
        }
        wide_put<In>(to + i * WIDE_CHUNK * KERNEL_WIDE_PITCH, made, 0);
        wide_put<In>(to + (i * WIDE_CHUNK + 8) * KERNEL_WIDE_PITCH, made, 2);
    }
}

template <class In, int Channels, int ChunksY, int ChunksX>
static __device__ __forceinline__ void wide_columns(const struct wide_plane &plane, const struct tile &tile) {
    const struct wide_vertical<ChunksY> weights = {
        wide_row_weights<ChunksY>(KERNEL_WIDE_Y_HIGH), wide_row_weights<ChunksY>(KERNEL_WIDE_Y_LOW)
    };
    constexpr int margin = (ChunksX - 1) * WIDE_CHUNK;
    static_assert((KERNEL_WIDE_WIDTH + margin + WIDE_STRIP - 1) / WIDE_STRIP * WIDE_STRIP <=
                      KERNEL_WIDE_PITCH,
                  "a row of shared memory");
    int width = (tile.width * Channels + WIDE_CHUNK - 1) / WIDE_CHUNK * WIDE_CHUNK + margin;
    for (int x = (int)threadIdx.y * WIDE_STRIP; x < width; x += (int)blockDim.y * WIDE_STRIP) {
        char *to = wide_values_memory() + wide_row() * KERNEL_WIDE_PITCH + x + 8 * wide_quad();
        wide_strip<In, Channels>(plane, weights, tile, tile.x * Channels + plane.begin + x, to);
    }
}

/* ---- horizontal ---- */

/* The weights of the horizontal pass, for two instructions: lane g has columns 4 (g / 2) + g % 2 and two on.
 */
template <int Chunks> struct wide_horizontal { struct wide_column_of<Chunks> high[2], low[2]; };

template <int Chunks>
static __device__ __forceinline__ struct wide_horizontal<Chunks> wide_horizontal_weights() {
    struct wide_horizontal<Chunks> weights;
    int sum = wide_row() / 2 * 4 + wide_row() % 2;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        weights.high[i] = wide_column_weights<Chunks>(KERNEL_WIDE_X_HIGH, sum + 2 * i);
        weights.low[i] = wide_column_weights<Chunks>(KERNEL_WIDE_X_LOW, sum + 2 * i);
    }
    return weights;
}

/* Four samples of a row, the second bytes of the sums, or four values. */
static __device__ __forceinline__ void
wide_join(uint32_t &group, const uint32_t (&made)[2][4], int n) {
    group = __byte_perm(__byte_perm(made[0][n], made[0][n + 1], 0x0051),
                        __byte_perm(made[1][n], made[1][n + 1], 0x0051), 0x5410);
}

static __device__ __forceinline__ void wide_join(uint2 &group, const uint32_t (&made)[2][4], int n) {
    group = make_uint2(wide_lower(made[0][n], made[0][n + 1]), wide_lower(made[1][n], made[1][n + 1]));
}

static __device__ __forceinline__ void wide_store_end(uint8_t *to, uint32_t group, int count) {
#pragma unroll 1
    for (int i = 0; i < min(count, (int)KERNEL_GROUP); i++) {
        to[i] = (uint8_t)(group >> 8 * i);
    }
}

/* Rows of values have room for whole groups. */
static __device__ __forceinline__ void wide_store_end(uint16_t *to, uint2 group, int count) {
    if (count > 0) {
        __stcg((uint2 *)to, group);
    }
}

/* Stores groups of rows g and g + 8, of which a tile has `rows` and more. */
template <class Out, class Group>
static __device__ __forceinline__ void wide_store(Out *to, int64_t stride, const Group (&group)[WIDE_RUN][2],
                                                  int count, int rows) {
    Out *below = (Out *)((char *)to + 8 * stride);
    if (count >= (WIDE_RUN - 1) * WIDE_CHUNK + KERNEL_GROUP && rows > 8) {
#pragma unroll
        for (int i = 0; i < WIDE_RUN; i++) {
            __stcg((Group *)(to + i * WIDE_CHUNK), group[i][0]);
            __stcg((Group *)(below + i * WIDE_CHUNK), group[i][1]);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < WIDE_RUN; i++) {
        wide_store_end(to + i * WIDE_CHUNK, group[i][0], rows > 0 ? count - i * WIDE_CHUNK : 0);
        wide_store_end(below + i * WIDE_CHUNK, group[i][1], rows > 8 ? count - i * WIDE_CHUNK : 0);
    }
}

/* The upper and the lower bytes of 16 rows of shared memory. */
template <int Chunks> struct wide_values { struct wide_rows_of<Chunks> high, low; };

template <int Chunks>
static __device__ __forceinline__ struct wide_values<Chunks> wide_load(const char *from) {
    int row = (int)threadIdx.x % 16 * KERNEL_WIDE_PITCH, other = (int)threadIdx.x / 16;
    const char *two = from + row + other * WIDE_CHUNK;
    struct wide_values<Chunks> values;
#pragma unroll
    for (int i = 0; i < Chunks / 2; i++) {
        values.high.two[i] = matrix_load(two + 2 * i * WIDE_CHUNK);
        values.low.two[i] = matrix_load(two + 2 * i * WIDE_CHUNK + WIDE_PLANE);
    }
    if (Chunks % 2 == 1) {
        uint4 last = matrix_load(from + row + other * WIDE_PLANE + (Chunks - 1) * WIDE_CHUNK);
        values.high.last = make_uint2(last.x, last.y);
        values.low.last = make_uint2(last.z, last.w);
    }
    return values;
}

/* Makes 16 rows from sample x and row y of the tile on. */
template <class Out, int Channels, int Chunks>
static __device__ __forceinline__ void wide_run(const struct wide_plane &plane,
                                                const struct wide_horizontal<Chunks> &weights,
                                                const struct tile &tile, int x, int y) {
    constexpr int half = sizeof(Out) == 1 ? 128 : 0;
    const char *from = wide_values_memory() + y * KERNEL_WIDE_PITCH + x;
    typename group_of<Out>::type group[WIDE_RUN][2];
#pragma unroll
    for (int i = 0; i < WIDE_RUN; i++) {
        const struct wide_values<Chunks> values = wide_load<Chunks>(from + i * WIDE_CHUNK);
        uint32_t made[2][4];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            struct wide_sums sums = wide_begin(half, 128 - half);
            wide_add(sums, values.high, values.low, weights.high[k].of, weights.low[k].of);
            wide_finish(sums, made[k]);
        }
        wide_join(group[i][0], made, 0);
        wide_join(group[i][1], made, 2);
    }
    x += KERNEL_GROUP * wide_quad();
    y += wide_row();
    Out *to = row_of<Out>(plane.target, tile.y + y) + tile.x * Channels + x;
    wide_store(to, plane.target.stride, group, tile.width * Channels - x, tile.height - y);
}

template <class Out, int Channels, int Chunks>
static __device__ __forceinline__ void wide_rows(const struct wide_plane &plane, const struct tile &tile) {
    const struct wide_horizontal<Chunks> weights = wide_horizontal_weights<Chunks>();
    constexpr int across = KERNEL_WIDE_WIDTH / (WIDE_RUN * WIDE_CHUNK);
    constexpr int runs = across * (KERNEL_WIDE_HEIGHT / WIDE_CHUNK);
    for (int run = (int)threadIdx.y; run < runs; run += (int)blockDim.y) {
        int x = run % across * WIDE_RUN * WIDE_CHUNK, y = run / across * WIDE_CHUNK;
        if (x < tile.width * Channels && y < tile.height) {
            wide_run<Out, Channels>(plane, weights, tile, x, y);
        }
    }
}

/* ---- both ---- */

template <class Sample, int Channels, int ChunksY, int ChunksX>
static __device__ __forceinline__ void wide_both(const struct wide_plane &plane, const struct tile &tile) {
    wide_columns<Sample, Channels, ChunksY, ChunksX>(plane, tile);
    __syncthreads();
    wide_rows<Sample, Channels, ChunksX>(plane, tile);
}

/* Makes samples of samples, or values of values. */
template <class Sample, int Channels>
static __device__ __forceinline__ void wide_tile(const struct wide_pass &pass) {
    const struct wide_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    wide_fill_weights(plane);
    fill_row_table(plane.source, tile.y + plane.target.lo_y - plane.source.lo_y - plane.radius_y);
    int chunks = max(plane.chunks_x, plane.chunks_y);
    constexpr int few = Channels == 1 ? 3 : 5, many = Channels == 3 ? 8 : sizeof(Sample) == 1 ? 3 : 4;
    if (Channels == 1 && chunks <= 2) {
        wide_both<Sample, Channels, 2, 2>(plane, tile);
    } else if (few == many || chunks <= few) {
        wide_both<Sample, Channels, 3, few>(plane, tile);
    } else {
        wide_both<Sample, Channels, 3, many>(plane, tile);
    }
}

#endif
