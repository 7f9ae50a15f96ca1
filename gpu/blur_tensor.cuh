/* SPDX-License-Identifier: MIT
 * Both axes in one launch for radii up to 8, on the matrix units: taps are a product with a band
 * matrix. In whole numbers that is exact, so that the bytes are those of every other way.
 *
 * A block copies a tile with its margins to shared memory. A warp makes 16 rows, 16 pixels at a
 * time: 32 rows of a 16-pixel column times the vertical band are values of two bytes; these, of
 * two neighbouring columns, times the horizontal band are the result. Products are of bytes, so
 * that weights and values are taken apart and the parts of the sums put together with shifts.
 * Both are doubled: then the 16 bits of a vertical sum that matter are two whole bytes, and
 * the result is the highest byte of the horizontal one.
 *
 * A product's columns and its inner index may be in any order, as long as both factors agree.
 * They are chosen so that what a thread gets from the first product is what it must give to the
 * second, and that a thread ends up with four adjacent pixels; see PIXEL_OF below. */
#ifndef BLURD_GPU_BLUR_TENSOR_CUH
#define BLURD_GPU_BLUR_TENSOR_CUH

#include "gpu/blur_grid.cuh"

extern __shared__ uint4 block_memory[];

enum {
    TENSOR_ROWS = 16,  /* that a warp makes at a time, and pixels */
    TENSOR_MARGIN = 8, /* rows and pixels around a tile */
    TENSOR_WARPS = KERNEL_TENSOR_HEIGHT / TENSOR_ROWS,
    TENSOR_COLUMNS = KERNEL_TENSOR_WIDTH / 16 + 1, /* of 16 pixels, from half a column before the tile */
};

/* The parts of a 16-row, 8-column product that a thread has: rows lane / 4 and 8 more, columns
 * 2 * (lane % 4) and the next. */
struct product {
    uint32_t of[4];
};

/* sum += a * b, of bytes. */
static __device__ __forceinline__ void multiply(struct product &sum, const uint32_t (&a)[4], uint32_t b0,
                                                uint32_t b1) {
#ifdef BLURD_SHIM
    shim_multiply(sum.of, a, b0, b1);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sum.of[0]), "+r"(sum.of[1]), "+r"(sum.of[2]), "+r"(sum.of[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else /* right, if slow: PTX for older GPUs may be run on newer ones */
    int lane = (int)threadIdx.x;
    for (int k = 0; k < 4; k++) {
        int row = lane / 4 * 4 + k, column = lane % 4 * 8 + k;
        uint32_t part[4], low[2], high[2];
        for (int i = 0; i < 4; i++) {
            part[i] = __shfl_sync(~0u, a[i], row);
        }
        for (int i = 0; i < 2; i++) {
            low[i] = __shfl_sync(~0u, b0, column + 4 * i);
            high[i] = __shfl_sync(~0u, b1, column + 4 * i);
        }
        for (int i = 0; i < 4; i++) {
            sum.of[i] = __dp4a(part[i / 2], low[i % 2], sum.of[i]);
            sum.of[i] = __dp4a(part[i / 2 + 2], high[i % 2], sum.of[i]);
        }
    }
#endif
}

/* One lane's part of the band matrices, high and low bytes. Rows of the vertical factor's inner index are
 * taken as 4 * i + lane % 4, which spreads the reads of a warp over all banks. */
struct bands {
    uint32_t y_high[4], y_low[4];       /* the left factor */
    uint32_t x_high[2][2], x_low[2][2]; /* [which 8 of 16 pixels][half of the inner index] */
};

/* PIXEL_OF: column n of product q, 0 or 1, is pixel 4 * (n / 2) + 2 * q + n % 2 of 16. */
static __device__ __forceinline__ struct bands load_bands(const struct tensor_plane &plane, int lane) {
    struct bands bands;
    int row = lane / 4, part = lane % 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int at = 16 * (i / 2) + part - (row + 8 * (i % 2)) + 15;
        bands.y_high[i] = plane.y_high[at];
        bands.y_low[i] = plane.y_low[at];
    }
#pragma unroll
    for (int q = 0; q < 2; q++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int at = 16 * half + 4 * part - (4 * (row / 2) + 2 * q + row % 2) + 15;
            bands.x_high[q][half] = plane.x_high[at];
            bands.x_low[q][half] = plane.x_low[at];
        }
    }
    return bands;
}

/* ---- the tile ---- */

template <int Channels>
static __device__ uint32_t tensor_gather(const struct tensor_plane &plane, const uint8_t *row, int at) {
    uint32_t word = 0;
    for (int k = 0; k < 4; k++) {
        int x = floor_divide(at + k, Channels);
        int folded = fold(x, plane.source.width, plane.source.edge_x);
        uint32_t sample =
            folded == OUTSIDE ? plane.border : (uint32_t)row[folded * Channels + at + k - x * Channels];
        word |= sample << 8 * k;
    }
    return word;
}

/* Row `y` of the tile's memory, 8 samples at `at` of the picture's row; near the picture's edges. */
template <int Channels> static __device__ uint2 tensor_edge(const struct tensor_plane &plane, int y, int at) {
    y = fold(y, plane.source.height, plane.source.edge_y);
    if (y == OUTSIDE) {
        return make_uint2(plane.border * 0x01010101u, plane.border * 0x01010101u);
    }
    const uint8_t *row = row_of<const uint8_t>(plane.source, y);
    if (at >= 0 && at + 8 <= plane.source.width * Channels) {
        return __ldg((const uint2 *)(row + at));
    }
    return make_uint2(tensor_gather<Channels>(plane, row, at), tensor_gather<Channels>(plane, row, at + 4));
}

/* Copies the tile with its margins: a thread goes down a column of 8 samples. */
template <int Channels>
static __device__ __forceinline__ void tensor_load(const struct tensor_plane &plane,
                                                   const struct tile &tile) {
    constexpr int length = (KERNEL_TENSOR_WIDTH + 2 * TENSOR_MARGIN) * Channels;
    constexpr int rows = KERNEL_TENSOR_HEIGHT + 2 * TENSOR_MARGIN;
    constexpr int across = length / 8;
    constexpr int step = TENSOR_WARPS * 32 / across;
    uint8_t *memory = (uint8_t *)block_memory;
    int first = (tile.x - TENSOR_MARGIN) * Channels;
    int top = tile.y - TENSOR_MARGIN;
    int thread = (int)(threadIdx.y * 32 + threadIdx.x);
    int column = thread % across * 8;
    int row = thread / across;
    uint8_t *to = memory + row * KERNEL_TENSOR_STRIDE + column;
    if (row >= step) {
        return;
    }
    if (first >= 0 && first + length <= plane.source.width * Channels && top >= 0 &&
        top + rows <= plane.source.height) {
        const uint8_t *from = row_of<const uint8_t>(plane.source, top + row) + first + column;
#pragma unroll 5
        for (int y = row; y < rows; y += step) {
            *(uint2 *)to = __ldg((const uint2 *)from);
            to += step * KERNEL_TENSOR_STRIDE;
            from += step * plane.source.stride;
        }
        return;
    }
#pragma unroll 1
    for (int y = row; y < rows; y += step) {
        *(uint2 *)to = tensor_edge<Channels>(plane, top + y, first + column);
        to += step * KERNEL_TENSOR_STRIDE;
    }
}

/* ---- vertical ---- */

/* From four rows of four bytes: byte `byte` of each. */
static __device__ __forceinline__ uint32_t down(const uint32_t (&row)[4], uint32_t byte) {
    uint32_t pair = byte | (byte + 4) << 4;
    return __byte_perm(__byte_perm(row[0], row[1], pair), __byte_perm(row[2], row[3], pair), 0x5410);
}

/* What a lane gives to the vertical products of a column: [product][half of the rows], one channel each.
 * Its pixels are 4 * (lane / 8) + lane / 4 % 2, and that two further on. */
static __device__ __forceinline__ void tensor_pixels(const uint8_t *memory, int lane,
                                                     uint32_t (&out)[1][2][2]) {
    uint32_t selector = lane / 4 % 2 ? 0x7351 : 0x6240;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int y = 16 * half + 4 * i + lane % 4;
            word[i] = *(const uint32_t *)(memory + y * KERNEL_TENSOR_STRIDE + lane / 8 * 4);
        }
        uint32_t a = __byte_perm(word[0], word[1], selector); /* row 0, 1 of one pixel, then of the other */
        uint32_t b = __byte_perm(word[2], word[3], selector);
        out[0][0][half] = __byte_perm(a, b, 0x5410);
        out[0][1][half] = __byte_perm(a, b, 0x7632);
    }
}

static __device__ __forceinline__ void tensor_pixels(const uint8_t *memory, int lane,
                                                     uint32_t (&out)[3][2][2]) {
    bool odd = lane / 4 % 2;
    uint32_t near = odd ? 0x6543 : 0x3210; /* bytes 3 to 5 or 0 to 2 of twelve */
    uint32_t far =
        odd ? 0x7765 : 0x5432; /* bytes 9 to 11 or 6 to 8: of the last two words 5 to 7 or 2 to 4 */
#pragma unroll
    for (int half = 0; half < 2; half++) {
        uint32_t first[4], second[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int y = 16 * half + 4 * i + lane % 4;
            const uint32_t *word = (const uint32_t *)(memory + y * KERNEL_TENSOR_STRIDE + lane / 8 * 12);
            first[i] = __byte_perm(word[0], word[1], near);
            second[i] = __byte_perm(word[1], word[2], far);
        }
#pragma unroll
        for (int c = 0; c < 3; c++) {
            out[c][0][half] = down(first, (uint32_t)c);
            out[c][1][half] = down(second, (uint32_t)c);
        }
    }
}

/* The values of 16 rows of a column: bytes of rows lane / 4 and 8 more, four pixels each. */
struct column {
    uint32_t high[2], low[2];
};

static __device__ __forceinline__ struct column tensor_column(const struct bands &bands,
                                                              const uint32_t (&pixels)[2][2]) {
    uint32_t value[2][4];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        struct product high = {{0, 0, 0, 0}};
        struct product low = {{256, 256, 256, 256}}; /* half of 1 << 9 */
        multiply(high, bands.y_high, pixels[q][0], pixels[q][1]);
        multiply(low, bands.y_low, pixels[q][0], pixels[q][1]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            value[q][i] = (high.of[i] << 8) + low.of[i];
        }
    }
    struct column column;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t a = __byte_perm(value[0][2 * i], value[0][2 * i + 1], 0x6521);
        uint32_t b = __byte_perm(value[1][2 * i], value[1][2 * i + 1], 0x6521);
        column.low[i] = __byte_perm(a, b, 0x6420) & 0xfefefefeu;
        column.high[i] = __byte_perm(a, b, 0x7531);
    }
    return column;
}

/* ---- horizontal ---- */

/* The 16 pixels between the middles of two columns: highest bytes of sum[row][pixel] are the samples
 * of rows lane / 4 and 8 more, pixels 4 * (lane % 4) and on. */
static __device__ __forceinline__ void tensor_rows(const struct bands &bands, const struct column &left,
                                                   const struct column &right, uint32_t (&sum)[2][4]) {
    const uint32_t high[4] = {left.high[0], left.high[1], right.high[0], right.high[1]};
    const uint32_t low[4] = {left.low[0], left.low[1], right.low[0], right.low[1]};
#pragma unroll
    for (int q = 0; q < 2; q++) {
        struct product upper = {{0, 0, 0, 0}}, middle = {{0, 0, 0, 0}};
        struct product lower = {{1 << 23, 1 << 23, 1 << 23, 1 << 23}};
        multiply(upper, high, bands.x_high[q][0], bands.x_high[q][1]);
        multiply(middle, high, bands.x_low[q][0], bands.x_low[q][1]);
        multiply(middle, low, bands.x_high[q][0], bands.x_high[q][1]);
        multiply(lower, low, bands.x_low[q][0], bands.x_low[q][1]);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum[i / 2][2 * q + i % 2] = (upper.of[i] << 16) + ((middle.of[i] << 8) + lower.of[i]);
        }
    }
}

static __device__ __forceinline__ uint32_t highest_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
}

/* Four pixels into row `y` at sample `at`, of which `count` samples are in the picture. */
template <int Channels>
static __device__ __forceinline__ void tensor_store(uint8_t *to, const uint32_t (&sum)[Channels][2][4],
                                                    int row, int count) {
    uint32_t word[Channels];
#pragma unroll
    for (int i = 0; i < Channels; i++) {
        uint32_t part[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            part[k] = sum[(4 * i + k) % Channels][row][(4 * i + k) / Channels];
        }
        word[i] = highest_bytes(part[0], part[1], part[2], part[3]);
    }
    if (count >= 4 * Channels) {
#pragma unroll
        for (int i = 0; i < Channels; i++) {
            ((uint32_t *)to)[i] = word[i];
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * Channels; i++) {
        if (i < count) {
            to[i] = (uint8_t)(word[i / 4] >> 8 * (i % 4));
        }
    }
}

/* A warp's 16 rows, column by column. */
template <int Channels>
static __device__ __forceinline__ void tensor_band(const struct tensor_plane &plane, const struct tile &tile,
                                                   int warp, int lane) {
    struct bands bands = load_bands(plane, lane);
    struct column left[Channels], right[Channels] = {};
    const uint8_t *memory = (const uint8_t *)block_memory + warp * TENSOR_ROWS * KERNEL_TENSOR_STRIDE;
    int y = warp * TENSOR_ROWS + lane / 4;
#pragma unroll 1
    for (int i = 0; i < TENSOR_COLUMNS; i++) {
        uint32_t pixels[Channels][2][2];
        uint32_t sum[Channels][2][4];
        tensor_pixels(memory + i * 16 * Channels, lane, pixels);
#pragma unroll
        for (int c = 0; c < Channels; c++) {
            left[c] = right[c];
            right[c] = tensor_column(bands, pixels[c]);
        }
        if (i == 0) {
            continue;
        }
#pragma unroll
        for (int c = 0; c < Channels; c++) {
            tensor_rows(bands, left[c], right[c], sum[c]);
        }
        int at = ((i - 1) * 16 + lane % 4 * 4) * Channels;
#pragma unroll
        for (int row = 0; row < 2; row++) {
            if (y + 8 * row < tile.height) {
                uint8_t *to = row_of<uint8_t>(plane.target, tile.y + y + 8 * row) + tile.x * Channels + at;
                tensor_store<Channels>(to, sum, row, tile.width * Channels - at);
            }
        }
    }
}

template <int Channels> static __device__ __forceinline__ void tensor_tile(const struct tensor_pass &pass) {
    const struct tensor_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    tensor_load<Channels>(plane, tile);
    __syncthreads();
    tensor_band<Channels>(plane, tile, (int)threadIdx.y, (int)threadIdx.x);
}

#endif
