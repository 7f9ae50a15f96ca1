/* SPDX-License-Identifier: MIT
 * Inverted residual blocks of the network that finds faces, each in one kernel. A block of threads makes a
 * tile of the result. For 32 expanded channels at a time it expands the tile and what is around it into
 * shared memory; then each warp filters its 16 pixels there, and the results go on to the projection without
 * leaving its registers. Several groups of warps do so for different channels of the same tile where a tile
 * has few pixels. */
#ifndef BLURD_GPU_DETECT_BLOCK_CUH
#define BLURD_GPU_DETECT_BLOCK_CUH

#include "gpu/detect/matrix.cuh"
#include "gpu/stream/grid.cuh"

enum { FACE_THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y, FACE_TAPS = 9, FACE_TAP_GROUPS = 3 };

/* What a thread works on. */
struct face_place {
    int x, y; /* of the tile's first result */
    int part; /* of the outputs */
    int thread, group, member;
    int row, quad;            /* of the lane: g and t */
    int tap[FACE_TAP_GROUPS]; /* offsets in a chunk of the taps that the lane hands in, for its row g */
    int below;                /* from there to row g + 8 */
    int next;                 /* from a warp's 16 pixels to its next ones */
    bool whole;               /* all that the tile reads lies in the source */
};

/* Divides a number below 2048 by one below 64. */
static __device__ __forceinline__ int face_divide(int value, int by) {
    return value * ((65536 + by - 1) / by) >> 16;
}

static __device__ __forceinline__ uint8_t *face_memory(int offset) {
    return (uint8_t *)block_memory + offset;
}

template <int Members>
static __device__ __forceinline__ struct face_place face_place_of(const struct face_block_pass &block) {
    struct face_place place;
    int tiles = block.tiles_x * block.tiles_y;
    int index = (int)blockIdx.x;
    place.part = index / tiles;
    index -= place.part * tiles;
    place.y = index / block.tiles_x;
    place.x = (index - place.y * block.tiles_x) * block.tile_width;
    place.y *= block.tile_height;
    place.group = (int)threadIdx.y / Members;
    place.member = (int)threadIdx.y % Members;
    place.thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    place.row = (int)threadIdx.x / KERNEL_FACE_QUAD;
    place.quad = (int)threadIdx.x % KERNEL_FACE_QUAD;
    int columns = block.tile_width / 8;
    int x = (place.member % columns * 8 + place.row) * block.stride;
    int y = place.member / columns * 2 * block.stride;
#pragma unroll
    for (int i = 0; i < FACE_TAP_GROUPS; i++) {
        int tap = min(4 * i + place.quad, FACE_TAPS - 1); /* others have weight 0 */
        place.tap[i] = ((y + tap / 3) * block.halo_width + x + tap % 3) * KERNEL_FACE_PITCH;
    }
    place.below = block.stride * block.halo_width * KERNEL_FACE_PITCH;
    place.next = Members / columns * 2 * place.below;
    place.whole = place.x > 0 && place.y > 0 && (place.x + block.tile_width) * block.stride < block.width &&
                  (place.y + block.tile_height) * block.stride < block.height;
    return place;
}

/* The row of a pixel of the tile and what is around it. */
static __device__ __forceinline__ int face_halo_row(const struct face_block_pass &block, int pixel) {
    return (int)((uint32_t)pixel * block.halo_inverse >> 16);
}

/* Whether such a pixel lies in the source. Others count as 0. */
static __device__ __forceinline__ bool face_inside(const struct face_block_pass &block,
                                                   const struct face_place &place, int pixel) {
    if (place.whole) {
        return true;
    }
    int y = face_halo_row(block, pixel);
    int x = pixel - y * block.halo_width;
    return (unsigned)(place.x * block.stride - 1 + x) < (unsigned)block.width &&
           (unsigned)(place.y * block.stride - 1 + y) < (unsigned)block.height;
}

/* Loads the tile of the source and what is around it. */
static __device__ __forceinline__ void face_load(const struct face_block_pass &block,
                                                 const struct face_place &place) {
    const uint8_t *source = (const uint8_t *)block.source;
    int pairs = block.inputs / KERNEL_FACE_PAIR;
    int left = place.x * block.stride - 1, top = place.y * block.stride - 1;
    for (int i = place.thread; i < block.halo_pixels * pairs; i += FACE_THREADS) {
        int pixel = face_divide(i, pairs), pair = i - pixel * pairs;
        int y = face_halo_row(block, pixel), x = pixel - y * block.halo_width;
        uint2 value = make_uint2(0, 0);
        if ((unsigned)(left + x) < (unsigned)block.width && (unsigned)(top + y) < (unsigned)block.height) {
            int64_t at = (int64_t)(top + y) * block.width + left + x;
            value = __ldg((const uint2 *)(source + at * block.inputs) + pair);
        }
        *(uint2 *)face_memory(pixel * block.source_pitch + pair * KERNEL_FACE_PAIR) = value;
    }
}

/* Biases and scales of a lane. */
struct face_lane_terms {
    int32_t bias[8];
    float scale[8], shift[8];
};

static __device__ __forceinline__ struct face_lane_terms face_terms_of(const uint8_t *packed, int quad) {
    struct face_lane_terms terms;
    const uint4 *from = (const uint4 *)(packed + quad * (int)sizeof(struct face_terms));
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint4 bias = __ldg(from + i), scale = __ldg(from + 2 + i);
        const uint32_t biases[] = {bias.x, bias.y, bias.z, bias.w};
        const uint32_t scales[] = {scale.x, scale.y, scale.z, scale.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            terms.bias[4 * i + j] = (int32_t)biases[j];
            terms.scale[4 * i + j] = __uint_as_float(scales[j]);
            terms.shift[4 * i + j] = face_shift(terms.scale[4 * i + j]);
        }
    }
    return terms;
}

/* Rounds the sums of four instructions: what row g has of the lane's 8 channels, then row g + 8. */
static __device__ __forceinline__ void face_round_rows(const int32_t sum[4][4],
                                                       const struct face_lane_terms &terms, uint2 rows[2]) {
#pragma unroll
    for (int row = 0; row < 2; row++) {
        uint32_t bits[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            bits[i] = face_round_relu(sum[i / 2][2 * row + i % 2], terms.scale[i], terms.shift[i]);
        }
        rows[row] = make_uint2(face_join(bits[0], bits[1], bits[2], bits[3]),
                               face_join(bits[4], bits[5], bits[6], bits[7]));
    }
}

static __device__ __forceinline__ void face_start(int32_t sum[4][4], const struct face_lane_terms &terms) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[i][0] = sum[i][2] = terms.bias[2 * i];
        sum[i][1] = sum[i][3] = terms.bias[2 * i + 1];
    }
}

/* Writes 16 expanded pixels, from this one. */
static __device__ __forceinline__ void face_store(const struct face_block_pass &block,
                                                  const struct face_place &place, uint8_t *chunk, int pixel,
                                                  const int32_t sum[4][4],
                                                  const struct face_lane_terms &terms) {
    uint2 rows[2];
    face_round_rows(sum, terms, rows);
#pragma unroll
    for (int row = 0; row < 2; row++) {
        int at = pixel + place.row + 8 * row;
        uint2 *to = (uint2 *)(chunk + at * KERNEL_FACE_PITCH + place.quad * KERNEL_FACE_PAIR);
        *to = face_inside(block, place, at) ? rows[row] : make_uint2(0, 0);
    }
}

/* The group's warps expand a chunk of channels, so many times 16 pixels at a time. */
template <int Members, int Tiles>
static __device__ __forceinline__ void face_expand(const struct face_block_pass &block,
                                                   const struct face_place &place, const uint8_t *weights,
                                                   uint8_t *chunk) {
    const struct face_lane_terms terms = face_terms_of(weights + block.steps * KERNEL_FACE_STEP, place.quad);
    int lane = place.row * block.source_pitch + place.quad * KERNEL_FACE_PAIR;
    int lower = 8 * block.source_pitch;
    for (int first = place.member * KERNEL_FACE_TILE; first < block.halo_pixels;
         first += Tiles * Members * KERNEL_FACE_TILE) {
        int32_t sum[Tiles][4][4];
        const uint8_t *from[Tiles];
#pragma unroll
        for (int i = 0; i < Tiles; i++) {
            int pixel = first + i * Members * KERNEL_FACE_TILE;
            from[i] = face_memory((pixel < block.halo_pixels ? pixel : first) * block.source_pitch + lane);
            face_start(sum[i], terms);
        }
        for (int step = 0; step < block.steps; step++) {
            uint2 upper[Tiles], under[Tiles];
#pragma unroll
            for (int i = 0; i < Tiles; i++) {
                upper[i] = *(const uint2 *)(from[i] + step * KERNEL_FACE_CHUNK);
                under[i] = *(const uint2 *)(from[i] + step * KERNEL_FACE_CHUNK + lower);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint2 w = face_weights(weights, step * 4 + j);
#pragma unroll
                for (int i = 0; i < Tiles; i++) {
                    face_multiply(sum[i][j], upper[i], under[i], w);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < Tiles; i++) {
            int pixel = first + i * Members * KERNEL_FACE_TILE;
            if (pixel < block.halo_pixels) {
                face_store(block, place, chunk, pixel, sum[i], terms);
            }
        }
    }
}

/* What a warp has of a chunk: of so many times 16 pixels, the lane's values of rows g and g + 8. */
template <int Rows> struct face_values { uint2 of[Rows][2]; };

/* Filters the warp's pixels of a chunk. */
template <int Rows>
static __device__ __forceinline__ struct face_values<Rows>
face_depth(const struct face_place &place, const uint8_t *weights, const uint8_t *chunk) {
    const struct face_lane_terms terms = face_terms_of(weights + KERNEL_FACE_DEPTH, place.quad);
    struct face_values<Rows> values;
    int32_t sum[Rows][4][4];
#pragma unroll
    for (int r = 0; r < Rows; r++) {
        face_start(sum[r], terms);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < FACE_TAP_GROUPS; j++) {
            uint2 w = face_weights(weights, i * FACE_TAP_GROUPS + j);
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                const uint8_t *from = chunk + place.tap[j] + r * place.next + i * KERNEL_FACE_PAIR;
                face_multiply(sum[r][i], *(const uint2 *)from, *(const uint2 *)(from + place.below), w);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < Rows; r++) {
        face_round_rows(sum[r], terms, values.of[r]);
    }
    return values;
}

/* The sums of a lane for the outputs: of rows g and g + 8, two of each eight. */
template <int Rows, int Eighths>
struct face_sums {
    int32_t of[Rows][Eighths][4];
};

/* Adds the chunk's share of the outputs. */
template <int Rows, int Eighths>
static __device__ __forceinline__ void face_project(const uint8_t *weights, int eighths,
                                                    const struct face_values<Rows> &values,
                                                    struct face_sums<Rows, Eighths> &sums) {
#pragma unroll
    for (int i = 0; i < Eighths; i++) {
        if (i < eighths) {
            uint2 w = face_weights(weights, i);
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                face_multiply(sums.of[r][i], values.of[r][0], values.of[r][1], w);
            }
        }
    }
}

/* Values from pixel to pixel of the sums in shared memory, so that a warp's stores meet different banks. */
static __device__ __forceinline__ int face_sums_pitch(const struct face_block_pass &block) {
    return block.part | 8;
}

/* Puts the sums of all groups together in shared memory. */
template <int Members, int Rows, int Eighths>
static __device__ __forceinline__ void face_gather(const struct face_block_pass &block,
                                                   const struct face_place &place,
                                                   const struct face_sums<Rows, Eighths> &sums) {
    int32_t *memory = (int32_t *)block_memory;
    int pitch = face_sums_pitch(block);
    bool several = Members < KERNEL_THREADS_Y;
    if (several) {
        for (int i = place.thread; i < Members * Rows * KERNEL_FACE_TILE * pitch; i += FACE_THREADS) {
            memory[i] = 0;
        }
        __syncthreads();
    }
    int32_t *to = memory + (place.member * KERNEL_FACE_TILE + place.row) * pitch + 2 * place.quad;
#pragma unroll
    for (int i = 0; i < Rows * Eighths; i++) {
        if (8 * (i % Eighths) < block.part) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int row = i / Eighths * Members * KERNEL_FACE_TILE + j / 2 * 8;
                int32_t *at = to + row * pitch + 8 * (i % Eighths) + j % 2;
                if (several) {
                    atomicAdd(at, sums.of[i / Eighths][i % Eighths][j]);
                } else {
                    *at = sums.of[i / Eighths][i % Eighths][j];
                }
            }
        }
    }
    __syncthreads();
}

static __device__ __forceinline__ float face_byte(uint32_t word, int index) {
    return (float)(int32_t)(word >> 8 * index & 0xff);
}

/* The bits of a float whose low byte is a channel of the target. */
static __device__ __forceinline__ uint32_t face_finish_one(const struct face_block_pass &block, uint32_t sum,
                                                           uint32_t bias, uint32_t scale, float addend) {
    float value = __fmul_rn((float)(int32_t)(sum + bias), __uint_as_float(scale));
    if (block.addend) {
        value = __fadd_rn(value, __fmul_rn(addend, block.addend_scale));
    }
    return face_round(__fadd_rn(value, block.offset));
}

/* Makes four channels of a pixel of the target. */
static __device__ __forceinline__ void face_finish(const struct face_block_pass &block, int64_t at,
                                                   int channel, const int32_t *sums) {
    uint32_t addend = block.addend ? __ldg((const uint32_t *)(block.addend + at)) : 0;
    uint4 scale = __ldg((const uint4 *)((const float *)block.scales + channel));
    uint4 bias = __ldg((const uint4 *)((const int32_t *)block.biases + channel));
    uint4 sum = *(const uint4 *)sums;
    *(uint32_t *)(block.target + at) =
        face_join(face_finish_one(block, sum.x, bias.x, scale.x, face_byte(addend, 0)),
                  face_finish_one(block, sum.y, bias.y, scale.y, face_byte(addend, 1)),
                  face_finish_one(block, sum.z, bias.z, scale.z, face_byte(addend, 2)),
                  face_finish_one(block, sum.w, bias.w, scale.w, face_byte(addend, 3)));
}

template <int Members, int Rows>
static __device__ __forceinline__ void face_write(const struct face_block_pass &block,
                                                  const struct face_place &place) {
    const int32_t *sums = (const int32_t *)block_memory;
    int pitch = face_sums_pitch(block), quarters = block.part / 4, columns = block.tile_width / 8;
    for (int i = place.thread; i < Members * Rows * KERNEL_FACE_TILE * quarters; i += FACE_THREADS) {
        int pixel = face_divide(i, quarters), channel = 4 * (i - pixel * quarters);
        int member = pixel / KERNEL_FACE_TILE, row = pixel % KERNEL_FACE_TILE;
        int x = place.x + member % columns * 8 + row % 8;
        int y = place.y + member / columns * 2 + row / 8;
        if (x < block.out_width && y < block.out_height) {
            int all = place.part * block.part + channel;
            int64_t at = ((int64_t)y * block.out_width + x) * block.outputs + all;
            face_finish(block, at, all, sums + pixel * pitch + channel);
        }
    }
}

/* The second half of a block's work, once a chunk is expanded. */
template <int Rows, int Eighths>
static __device__ __forceinline__ void
face_reduce(const struct face_block_pass &block, const struct face_place &place, const uint8_t *weights,
            const uint8_t *chunk, struct face_sums<Rows, Eighths> &sums) {
    const struct face_values<Rows> values = face_depth<Rows>(place, weights, chunk);
    weights += KERNEL_FACE_DEPTH + KERNEL_FACE_TERMS;
    int eighths = block.part / 8;
    face_project(weights + place.part * eighths * KERNEL_FACE_WARP, eighths, values, sums);
}

/* Members: warps of a group. Rows: times 16 pixels that each of them makes. Eighths: of the outputs, at most.
 * Tiles: times 16 pixels that a warp expands at a time. */
template <int Members, int Rows, int Eighths, int Tiles>
static __device__ __forceinline__ void face_block_tile(const struct face_block_pass &block) {
    constexpr int groups = KERNEL_THREADS_Y / Members;
    const struct face_place place = face_place_of<Members>(block);
    uint8_t *chunk = face_memory(block.expanded + place.group * block.expanded_bytes);
    struct face_sums<Rows, Eighths> sums = {};
    face_load(block, place);
    __syncthreads();
    for (int i = 0; i < block.chunks; i += groups) {
        bool busy = i + place.group < block.chunks;
        const uint8_t *weights =
            (const uint8_t *)block.weights + (int64_t)(i + place.group) * (int64_t)block.chunk_bytes;
        if (busy) {
            face_expand<Members, Tiles>(block, place, weights, chunk);
        }
        __syncthreads();
        if (busy) {
            face_reduce(block, place, weights + block.steps * KERNEL_FACE_STEP + KERNEL_FACE_TERMS, chunk,
                        sums);
        }
        __syncthreads();
    }
    face_gather<Members>(block, place, sums);
    face_write<Members, Rows>(block, place);
}

#endif
