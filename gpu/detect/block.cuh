/* SPDX-License-Identifier: MIT
 * Inverted residual blocks of the network that finds faces, each in one kernel. A block of threads makes a
 * tile of the result. For 32 expanded channels at a time it expands the tile and what is around it into
 * shared memory; then each warp filters its pixels there, and the results go on to the projection without
 * leaving its registers. Several groups of warps do so for different channels of the same tile where a tile
 * has few pixels. */
#ifndef BLURD_GPU_DETECT_BLOCK_CUH
#define BLURD_GPU_DETECT_BLOCK_CUH

#include "gpu/detect/form.cuh"
#include "gpu/detect/matrix.cuh"
#include "gpu/detect/result.cuh"

/* ---- the source ---- */

/* The pixels of the tile and around it that a lane expands: rows g and g + 8 of each unit. */
template <class Form> struct face_source {
    const uint8_t *at[Form::units][2]; /* the lane's first bytes; outside of the source any others */
    uint2 value[Form::kept ? Form::units : 1][Form::steps][2];
    uint32_t inside; /* a bit for each that lies in the source; others count as 0 */
};

/* Position in a chunk of a lane's first pixel. */
static __device__ __forceinline__ int face_unit(const struct face_place &place) {
    return place.member * KERNEL_FACE_TILE + place.row;
}

static __device__ __forceinline__ int face_chunk_offset(const struct face_place &place) {
    return face_unit(place) * KERNEL_FACE_PITCH + place.quad * KERNEL_FACE_PAIR;
}

/* Offset in a chunk, from the lane's first pixel. */
template <class Form> static __device__ __forceinline__ int face_unit_offset(int unit, int row) {
    return (unit * Form::members * KERNEL_FACE_TILE + 8 * row) * KERNEL_FACE_PITCH;
}

/* Whether some warp lacks that unit, and this one does. */
template <class Form>
static __device__ __forceinline__ bool face_lacks(const struct face_place &place, int unit) {
    return (unit + 1) * Form::members * KERNEL_FACE_TILE > Form::halo + KERNEL_FACE_TILE - 1 &&
           (unit * Form::members + place.member) * KERNEL_FACE_TILE >= Form::halo;
}

/* Finds the lane's pixels, and sets those outside of the picture to 0 in the chunk, where they stay so. */
template <class Form>
static __device__ __forceinline__ void face_find(const struct face_block_pass &block,
                                                 const struct face_place &place, uint8_t *chunk,
                                                 struct face_source<Form> &source) {
    source.inside = 0;
#pragma unroll
    for (int i = 0; i < 2 * Form::units; i++) {
        int pixel = face_unit(place) + i / 2 * Form::members * KERNEL_FACE_TILE + 8 * (i % 2);
        int row = pixel / Form::halo_width;
        int x = place.x * Form::stride - 1 + pixel - row * Form::halo_width;
        int y = place.y * Form::stride - 1 + row;
        bool there = pixel < Form::halo;
        bool inside = there && (unsigned)x < (unsigned)block.width && (unsigned)y < (unsigned)block.height;
        int64_t at = inside ? (int64_t)(y * block.width + x) * block.inputs : 0;
        source.at[i / 2][i % 2] = (const uint8_t *)block.source + at + place.quad * KERNEL_FACE_PAIR;
        source.inside |= inside ? 1u << i : 0;
        if (there && !inside) {
            *(uint2 *)(chunk + face_chunk_offset(place) + face_unit_offset<Form>(i / 2, i % 2)) =
                make_uint2(0, 0);
        }
    }
}

template <class Form> static __device__ __forceinline__ void face_fetch(struct face_source<Form> &source) {
#pragma unroll
    for (int i = 0; i < (Form::kept ? 2 * Form::units * Form::steps : 0); i++) {
        int unit = i / 2 / Form::steps, step = i / 2 % Form::steps;
        source.value[unit][step][i % 2] =
            __ldg((const uint2 *)(source.at[unit][i % 2] + step * KERNEL_FACE_CHUNK));
    }
}

/* ---- expansion ---- */

/* Biases and scales of a lane, the former as sums of an instruction. */
struct face_lane_terms {
    int32_t start[4][4];
    float scale[8];
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
            terms.start[2 * i + j / 2][j % 2] = terms.start[2 * i + j / 2][2 + j % 2] = (int32_t)biases[j];
            terms.scale[4 * i + j] = __uint_as_float(scales[j]);
        }
    }
    return terms;
}

/* Rounds the sums of four instructions: what row g (0) or g + 8 (1) has of the lane's 8 channels. */
static __device__ __forceinline__ uint2 face_round_row(const int32_t sum[4][4],
                                                       const struct face_lane_terms &terms, int row) {
    int32_t value[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        value[i] = face_relu(sum[i / 2][2 * row + i % 2], terms.scale[i]);
    }
    return make_uint2(face_saturate(value[0], value[1], value[2], value[3]),
                      face_saturate(value[4], value[5], value[6], value[7]));
}

/* Writes the lane's pixels of a unit. */
template <class Form>
static __device__ __forceinline__ void face_store(const struct face_source<Form> &source, int unit,
                                                  uint8_t *to, const int32_t sum[4][4],
                                                  const struct face_lane_terms &terms) {
#pragma unroll
    for (int row = 0; row < 2; row++) {
        uint2 value = face_round_row(sum, terms, row);
        if (source.inside >> (2 * unit + row) & 1) {
            *(uint2 *)(to + face_unit_offset<Form>(unit, row)) = value;
        }
    }
}

/* The sums of as many units as are expanded at once. */
template <class Form> struct face_expansion { int32_t of[Form::batch][4][4]; };

/* Adds 32 inputs of the units from `unit` on. */
template <class Form>
static __device__ __forceinline__ void face_expand_step(const struct face_source<Form> &source, int unit,
                                                        int step, const struct face_pair weights[2],
                                                        const struct face_lane_terms &terms,
                                                        struct face_expansion<Form> &sums) {
#pragma unroll
    for (int i = 0; i < Form::batch && unit + i < Form::units; i++) {
        uint2 value[2];
#pragma unroll
        for (int row = 0; row < 2; row++) {
            value[row] = Form::kept
                             ? source.value[Form::kept ? unit + i : 0][step][row]
                             : __ldg((const uint2 *)(source.at[unit + i][row] + step * KERNEL_FACE_CHUNK));
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            face_multiply(sums.of[i][j], step == 0 ? terms.start[j] : sums.of[i][j], value[0], value[1],
                          weights[j / 2].of[j % 2]);
        }
    }
}

/* The group's warps expand a chunk of channels. */
template <class Form>
static __device__ __forceinline__ void face_expand(const struct face_place &place,
                                                   const struct face_source<Form> &source,
                                                   const uint8_t *packed, uint8_t *chunk) {
    const struct face_lane_terms terms = face_terms_of(packed + Form::steps * KERNEL_FACE_STEP, place.quad);
    uint8_t *to = chunk + face_chunk_offset(place);
    struct face_pair weights[Form::steps][2];
#pragma unroll
    for (int unit = 0; unit < Form::units; unit += Form::batch) {
        struct face_expansion<Form> sums;
        if (face_lacks<Form>(place, unit)) {
            continue;
        }
#pragma unroll
        for (int step = 0; step < Form::steps; step++) {
            if (!Form::kept || unit == 0) {
                weights[step][0] = face_pair_of(packed, 2 * step);
                weights[step][1] = face_pair_of(packed, 2 * step + 1);
            }
            face_expand_step(source, unit, step, weights[step], terms, sums);
        }
#pragma unroll
        for (int i = 0; i < Form::batch && unit + i < Form::units; i++) {
            if (i == 0 || !face_lacks<Form>(place, unit + i)) {
                face_store(source, unit + i, to, sums.of[i], terms);
            }
        }
    }
}

/* ---- filter and projection ---- */

enum { FACE_TAP_PAIRS = 6 };

/* The weights of `depth` that a lane hands in. */
struct face_taps {
    struct face_pair pair[FACE_TAP_PAIRS];
};

static __device__ __forceinline__ struct face_taps face_taps_of(const uint8_t *packed) {
    struct face_taps taps;
#pragma unroll
    for (int i = 0; i < FACE_TAP_PAIRS; i++) {
        taps.pair[i] = face_pair_of(packed, i);
    }
    return taps;
}

/* What a warp has of a chunk: of so many times 16 pixels, the lane's values of rows g and g + 8. */
template <int Rows> struct face_values { uint2 of[Rows][2]; };

/* Filters eight channels of the warp's pixels. Rows g and g + 8 are one above the other. Quad lane t takes
 * column t of the 3x3, and lane 3 has weights of 0; each instruction does a row of the 3x3. */
template <class Form>
static __device__ __forceinline__ void face_filter(const uint8_t *from, const struct face_taps &taps,
                                                   const int32_t start[4], int eighth,
                                                   int32_t sums[Form::rows][4][4]) {
    uint2 value[Form::window];
#pragma unroll
    for (int y = 0; y < Form::window; y++) {
        value[y] = *(const uint2 *)(from + y * Form::halo_width * KERNEL_FACE_PITCH);
    }
#pragma unroll
    for (int y = 0; y < 3; y++) {
        int index = 3 * eighth + y;
#pragma unroll
        for (int r = 0; r < Form::rows; r++) {
            face_multiply(sums[r][eighth], y == 0 ? start : sums[r][eighth], value[2 * r * Form::stride + y],
                          value[(2 * r + 1) * Form::stride + y], taps.pair[index / 2].of[index % 2]);
        }
    }
}

template <class Form>
static __device__ __forceinline__ struct face_values<Form::rows>
face_depth(const struct face_place &place, const struct face_taps &taps, const uint8_t *packed_terms,
           const uint8_t *chunk) {
    const struct face_lane_terms terms = face_terms_of(packed_terms, place.quad);
    int pixel = place.top * Form::stride * Form::halo_width + place.left * Form::stride + min(place.quad, 2);
    const uint8_t *from = chunk + pixel * KERNEL_FACE_PITCH;
    struct face_values<Form::rows> values;
    int32_t sums[Form::rows][4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        face_filter<Form>(from + i * KERNEL_FACE_PAIR, taps, terms.start[i], i, sums);
    }
#pragma unroll
    for (int i = 0; i < 2 * Form::rows; i++) {
        values.of[i / 2][i % 2] = face_round_row(sums[i / 2], terms, i % 2);
    }
    return values;
}

/* Adds the chunk's share of the outputs. */
template <class Form>
static __device__ __forceinline__ void face_project(const uint8_t *packed, int eighths,
                                                    const struct face_values<Form::rows> &values,
                                                    struct face_sums<Form> &sums) {
#pragma unroll
    for (int i = 0; i < Form::eighths; i += 2) {
        if (i < eighths) {
            const struct face_pair weights = face_pair_of(packed, i / 2);
#pragma unroll
            for (int j = 0; j < 2 * Form::rows; j++) {
                int32_t *sum = sums.of[j / 2][i + j % 2];
                face_multiply(sum, sum, values.of[j / 2][0], values.of[j / 2][1], weights.of[j % 2]);
            }
        }
    }
}

/* ---- all of it ---- */

template <class Form>
static __device__ __forceinline__ void face_block_tile(const struct face_block_pass &block) {
    const struct face_place place = face_place_of<Form>(block);
    uint8_t *chunk = face_memory(place.group * Form::chunk_bytes);
    const uint8_t *weights = (const uint8_t *)block.weights + place.group * block.chunk_bytes;
    struct face_sums<Form> sums = {};
    struct face_source<Form> source;
    face_find<Form>(block, place, chunk, source);
    face_fetch<Form>(source);
    for (int i = place.group; i < block.chunks + place.group; i += Form::groups) {
        bool busy = i < block.chunks;
        const uint8_t *depth = weights + Form::steps * KERNEL_FACE_STEP + KERNEL_FACE_TERMS;
        struct face_taps taps = {};
        if (busy) {
            face_expand<Form>(place, source, weights, chunk);
            taps = face_taps_of(depth);
        }
        __syncthreads();
        if (busy) {
            const struct face_values<Form::rows> values =
                face_depth<Form>(place, taps, depth + KERNEL_FACE_DEPTH, chunk);
            face_project<Form>(depth + KERNEL_FACE_DEPTH + KERNEL_FACE_TERMS +
                                   place.part * (block.part / 8) * KERNEL_FACE_WARP,
                               block.part / 8, values, sums);
        }
        __syncthreads();
        weights += Form::groups * block.chunk_bytes;
    }
    face_gather<Form>(block, place, sums);
    face_write<Form>(block, place);
}

#endif
