/* SPDX-License-Identifier: MIT
 * The neck of the network that finds faces, and its heads. A lane has channels 6t to 6t + 5 of 24. */
#ifndef BLURD_GPU_DETECT_NECK_CUH
#define BLURD_GPU_DETECT_NECK_CUH

#include "gpu/detect/matrix.cuh"
#include "gpu/stream/grid.cuh"

enum { FACE_EIGHTHS = KERNEL_FACE_NECK / 8, FACE_LANE_CHANNELS = KERNEL_FACE_NECK / KERNEL_FACE_QUAD };

/* Sums of 16 pixels by 24 channels. */
struct face_neck_sums {
    int32_t of[FACE_EIGHTHS][4];
};

static __device__ __forceinline__ struct face_neck_terms face_neck_terms_of(uint64_t packed, int quad) {
    struct face_neck_terms terms;
    const int32_t *from = (const int32_t *)packed + quad * (int)(sizeof terms / sizeof(int32_t));
#pragma unroll
    for (int i = 0; i < FACE_LANE_CHANNELS; i++) {
        terms.bias[i] = __ldg(from + i);
        terms.scale[i] = __int_as_float(__ldg(from + FACE_LANE_CHANNELS + i));
    }
    return terms;
}

/* Channel i of the lane in row g (0) or row g + 8 (1): multiplied by its scale, and no less than 0. */
static __device__ __forceinline__ float face_neck_value(const struct face_neck_sums &sums,
                                                        const struct face_neck_terms &terms, int row, int i) {
    int32_t sum = sums.of[i / 2][2 * row + i % 2] + terms.bias[i];
    return max(__fmul_rn((float)sum, terms.scale[i]), 0.0f);
}

static __device__ __forceinline__ void face_neck_multiply(struct face_neck_sums &sums, uint2 upper,
                                                          uint2 lower, const uint8_t *weights) {
#pragma unroll
    for (int i = 0; i < FACE_EIGHTHS; i++) {
        face_pixels_by_weights(sums.of[i], sums.of[i], make_uint4(upper.x, lower.x, upper.y, lower.y),
                               face_weights(weights, i));
    }
}

/* Writes the lane's channels of a pixel. */
static __device__ __forceinline__ void face_neck_write(uint8_t *pixel,
                                                       const uint32_t bits[FACE_LANE_CHANNELS]) {
    uint16_t *to = (uint16_t *)pixel + threadIdx.x % KERNEL_FACE_QUAD * (FACE_LANE_CHANNELS / 2);
#pragma unroll
    for (int i = 0; i < FACE_LANE_CHANNELS; i += 2) {
        to[i / 2] = (uint16_t)__byte_perm(bits[i], bits[i + 1], 0x0040);
    }
}

/* ---- layers ---- */

/* The pixels of the result that belong to rows g and g + 8, for one of the four places of the enlargement. */
struct face_targets {
    int64_t at[2];
    bool there[2];
};

static __device__ __forceinline__ struct face_targets face_targets_of(const struct face_neck_pass &neck,
                                                                      int first, int place) {
    struct face_targets targets;
#pragma unroll
    for (int row = 0; row < 2; row++) {
        int pixel = first + (int)threadIdx.x / KERNEL_FACE_QUAD + 8 * row;
        targets.there[row] = pixel < neck.pixels;
        pixel = min(pixel, neck.pixels - 1);
        targets.at[row] = pixel;
        if (neck.low) {
            int y = pixel / neck.width, x = pixel - y * neck.width;
            targets.at[row] = (int64_t)(2 * y + place / 2) * (2 * neck.width) + 2 * x + place % 2;
        }
    }
    return targets;
}

static __device__ __forceinline__ void face_neck_place(const struct face_neck_pass &neck, int first,
                                                       int place, const uint2 low[2],
                                                       const struct face_neck_terms &terms,
                                                       const struct face_neck_terms &up_terms) {
    const struct face_targets targets = face_targets_of(neck, first, place);
    int quad = (int)threadIdx.x % KERNEL_FACE_QUAD;
    struct face_neck_sums sums = {}, up = {};
    const uint8_t *a = (const uint8_t *)neck.source + targets.at[0] * neck.inputs + quad * KERNEL_FACE_PAIR;
    const uint8_t *b = (const uint8_t *)neck.source + targets.at[1] * neck.inputs + quad * KERNEL_FACE_PAIR;
    for (int step = 0; step < neck.steps; step++) {
        face_neck_multiply(sums, __ldg((const uint2 *)(a + 32 * step)), __ldg((const uint2 *)(b + 32 * step)),
                           (const uint8_t *)neck.weights + step * FACE_EIGHTHS * KERNEL_FACE_WARP);
    }
    if (neck.low) {
        face_neck_multiply(up, low[0], low[1],
                           (const uint8_t *)neck.up_weights + place * FACE_EIGHTHS * KERNEL_FACE_WARP);
    }
#pragma unroll
    for (int row = 0; row < 2; row++) {
        uint32_t bits[FACE_LANE_CHANNELS];
#pragma unroll
        for (int i = 0; i < FACE_LANE_CHANNELS; i++) {
            float value = face_neck_value(sums, terms, row, i);
            if (neck.low) {
                uint32_t addend = face_round(face_neck_value(up, up_terms, row, i)) & 0xff;
                value = __fadd_rn(value, __fmul_rn((float)(int32_t)addend, neck.addend_scale));
            }
            bits[i] = face_round(__fadd_rn(value, neck.offset));
        }
        if (targets.there[row]) {
            face_neck_write((uint8_t *)neck.target + targets.at[row] * KERNEL_FACE_NECK, bits);
        }
    }
}

/* A warp makes 16 pixels, or one of the four times 16 that they are enlarged to. */
static __device__ __forceinline__ void face_neck_run(const struct face_neck_pass &neck) {
    int quad = (int)threadIdx.x % KERNEL_FACE_QUAD;
    int index = (int)(blockIdx.x * KERNEL_THREADS_Y + threadIdx.y), place = neck.low ? index % 4 : 0;
    int first = (neck.low ? index / 4 : index) * KERNEL_FACE_TILE;
    if (first >= neck.pixels) {
        return;
    }
    const struct face_neck_terms terms = face_neck_terms_of(neck.terms, quad);
    struct face_neck_terms up_terms = {};
    uint2 low[2] = {};
    if (neck.low) {
        up_terms = face_neck_terms_of(neck.up_terms, quad);
#pragma unroll
        for (int row = 0; row < 2; row++) {
            int64_t pixel = min(first + (int)threadIdx.x / KERNEL_FACE_QUAD + 8 * row, neck.pixels - 1);
            low[row] = __ldg((const uint2 *)(neck.low + pixel * KERNEL_FACE_NECK) + quad);
        }
    }
    face_neck_place(neck, first, place, low, terms, up_terms);
}

/* ---- heads ---- */

enum {
    FACE_HALO_WIDTH = KERNEL_FACE_SMOOTH_WIDTH + 2,
    FACE_HALO = FACE_HALO_WIDTH * (KERNEL_FACE_SMOOTH_HEIGHT + 2),
    FACE_SMOOTH_PAIRS = 9 * FACE_EIGHTHS,
    FACE_SMOOTHED =
        FACE_HALO * KERNEL_FACE_NECK + KERNEL_FACE_PAIR, /* where the results lie in shared memory */
};

static __device__ __forceinline__ void face_heads_load(const struct face_heads_pass &heads, int left, int top,
                                                       int thread) {
    uint8_t *memory = (uint8_t *)block_memory;
    for (int i = thread; i < FACE_HALO * FACE_EIGHTHS; i += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        int pixel = i / FACE_EIGHTHS, pair = i % FACE_EIGHTHS;
        int y = top + pixel / FACE_HALO_WIDTH, x = left + pixel % FACE_HALO_WIDTH;
        uint2 value = make_uint2(0, 0);
        if ((unsigned)x < (unsigned)heads.width && (unsigned)y < (unsigned)heads.height) {
            int64_t at = (int64_t)y * heads.width + x;
            value = __ldg((const uint2 *)(heads.source + at * KERNEL_FACE_NECK) + pair);
        }
        *(uint2 *)(memory + i * KERNEL_FACE_PAIR) = value;
    }
}

/* Makes the last 3x3 of the warp's 16 pixels in shared memory, at `to`. */
static __device__ __forceinline__ void face_smooth(const struct face_heads_pass &heads, int x, int y,
                                                   uint8_t *to) {
    int row = (int)threadIdx.x / KERNEL_FACE_QUAD, quad = (int)threadIdx.x % KERNEL_FACE_QUAD;
    const uint8_t *from = (const uint8_t *)block_memory + (y * FACE_HALO_WIDTH + x + row) * KERNEL_FACE_NECK;
    struct face_neck_sums sums = {};
#pragma unroll
    for (int step = 0; step < KERNEL_FACE_SMOOTH_STEPS; step++) {
        int pair = min(4 * step + quad, FACE_SMOOTH_PAIRS - 1), tap = pair / FACE_EIGHTHS;
        const uint8_t *at = from + (tap / 3 * FACE_HALO_WIDTH + tap % 3) * KERNEL_FACE_NECK +
                            pair % FACE_EIGHTHS * KERNEL_FACE_PAIR;
        face_neck_multiply(sums, *(const uint2 *)at,
                           *(const uint2 *)(at + FACE_HALO_WIDTH * KERNEL_FACE_NECK),
                           (const uint8_t *)heads.weights + step * FACE_EIGHTHS * KERNEL_FACE_WARP);
    }
    const struct face_neck_terms terms = face_neck_terms_of(heads.terms, quad);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint32_t bits[FACE_LANE_CHANNELS];
#pragma unroll
        for (int i = 0; i < FACE_LANE_CHANNELS; i++) {
            bits[i] = face_round(face_neck_value(sums, terms, r, i));
        }
        face_neck_write(to + (row + 8 * r) * KERNEL_FACE_NECK, bits);
    }
}

/* The lane's four of the 16 sums of the pixel of row g, if the pixel looks like a face. */
static __device__ __forceinline__ void face_report(const struct face_heads_pass &heads, int x, int y,
                                                   const int32_t sums[4]) {
    int lane = (int)threadIdx.x, quad = lane % KERNEL_FACE_QUAD;
    int32_t heat = (int32_t)__shfl_sync(0xffffffffu, (uint32_t)sums[0], lane - quad);
    bool found = heat >= heads.least && x < heads.width && y < heads.height;
    uint32_t index = 0;
    if (found && quad == 0) {
        index = atomicAdd((uint32_t *)heads.candidates, 1u);
    }
    index = __shfl_sync(0xffffffffu, index, lane - quad);
    if (!found || index >= (uint32_t)heads.most) {
        return;
    }
    struct kernel_candidate *to = (struct kernel_candidate *)(heads.candidates + sizeof(uint32_t)) + index;
    if (quad == 0) {
        to->x = (uint16_t)x;
        to->y = (uint16_t)y;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int output = i / 2 * 8 + 2 * quad + i % 2;
        if (output < KERNEL_FACE_SUMS) {
            to->sum[output] = sums[i];
        }
    }
}

static __device__ __forceinline__ void face_heads_tile(const struct face_heads_pass &heads) {
    int row = (int)threadIdx.x / KERNEL_FACE_QUAD, quad = (int)threadIdx.x % KERNEL_FACE_QUAD;
    int tile_y = (int)blockIdx.x / heads.tiles_x, tile_x = (int)blockIdx.x - tile_y * heads.tiles_x;
    int left = tile_x * KERNEL_FACE_SMOOTH_WIDTH, top = tile_y * KERNEL_FACE_SMOOTH_HEIGHT;
    face_heads_load(heads, left - 1, top - 1, (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x));
    __syncthreads();
    int x = (int)threadIdx.y % 2 * 8, y = (int)threadIdx.y / 2 * 2;
    uint8_t *smoothed =
        (uint8_t *)block_memory + FACE_SMOOTHED + threadIdx.y * KERNEL_FACE_TILE * KERNEL_FACE_NECK;
    face_smooth(heads, x, y, smoothed);
    __syncwarp();
    /* Lane 3 has weights of 0; another warp may write behind the row. */
    const uint8_t *from = smoothed + row * KERNEL_FACE_NECK + min(quad, FACE_EIGHTHS - 1) * KERNEL_FACE_PAIR;
    uint2 upper = *(const uint2 *)from, lower = *(const uint2 *)(from + 8 * KERNEL_FACE_NECK);
    int32_t sum[2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        sum[i][0] = sum[i][2] = __ldg((const int32_t *)heads.head_biases + 8 * i + 2 * quad);
        sum[i][1] = sum[i][3] = __ldg((const int32_t *)heads.head_biases + 8 * i + 2 * quad + 1);
        face_pixels_by_weights(sum[i], sum[i], make_uint4(upper.x, lower.x, upper.y, lower.y),
                               face_weights((const uint8_t *)heads.head_weights, i));
    }
    const int32_t above[] = {sum[0][0], sum[0][1], sum[1][0], sum[1][1]};
    const int32_t below[] = {sum[0][2], sum[0][3], sum[1][2], sum[1][3]};
    face_report(heads, left + x + row, top + y, above);
    face_report(heads, left + x + row, top + y + 1, below);
}

#endif
