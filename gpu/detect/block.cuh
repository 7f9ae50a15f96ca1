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
#include "gpu/detect/source.cuh"

/* ---- expansion ---- */

static __device__ __forceinline__ void face_start_of(int32_t start[4], const uint4 *from) {
    uint4 words = __ldg(from);
    start[0] = (int32_t)words.x, start[1] = (int32_t)words.y;
    start[2] = (int32_t)words.z, start[3] = (int32_t)words.w;
}

static __device__ __forceinline__ void face_scale_of(float scale[4], const uint4 *from) {
    uint4 words = __ldg(from);
    scale[0] = __uint_as_float(words.x), scale[1] = __uint_as_float(words.y);
    scale[2] = __uint_as_float(words.z), scale[3] = __uint_as_float(words.w);
}

static __device__ __forceinline__ struct face_expand_terms face_expand_terms_of(const uint8_t *packed,
                                                                                int row) {
    const uint4 *from = (const uint4 *)packed + row;
    struct face_expand_terms terms;
    face_start_of(terms.start[0], from);
    face_start_of(terms.start[1], from + 8);
    face_scale_of(terms.scale, from + 16);
    return terms;
}

/* The sums of a unit: of upper and of lower pixels, channels 4g and 4g + 1, then 4g + 2 and 4g + 3. */
struct face_expanded {
    int32_t of[2][2][4];
};

/* Rounds the lane's four channels of a pixel. */
static __device__ __forceinline__ uint32_t face_expanded_word(const int32_t sums[2][4], int pair,
                                                              const struct face_expand_terms &terms) {
    return face_saturate(
        face_relu(sums[0][pair], terms.scale[0]), face_relu(sums[0][pair + 2], terms.scale[1]),
        face_relu(sums[1][pair], terms.scale[2]), face_relu(sums[1][pair + 2], terms.scale[3]));
}

/* Rounds the lane's four channels of the two pairs of a unit, and writes them. */
template <class Form>
static __device__ __forceinline__ void face_store(const struct face_place &place, int unit, uint8_t *words,
                                                  const struct face_expanded &sums,
                                                  const struct face_expand_terms &terms) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint2 value =
            make_uint2(face_expanded_word(sums.of[0], i, terms), face_expanded_word(sums.of[1], i, terms));
        if (face_has<Form>(place, unit, i)) {
            *(uint2 *)(words + face_words_offset<Form>(unit, i)) = value;
        }
    }
}

/* Adds 32 inputs of a unit. */
template <class Form>
static __device__ __forceinline__ void
face_expand_step(const struct face_source<Form> &source, int unit, int step, const uint4 weights[2],
                 const struct face_expand_terms &terms, struct face_expanded &sums) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint2 value = Form::kept ? source.value[Form::kept ? unit : 0][step][i]
                                 : __ldg((const uint2 *)(source.at[unit][i] + step * KERNEL_FACE_CHUNK));
#pragma unroll
        for (int j = 0; j < 2; j++) {
            face_weights_by_pixels(sums.of[i][j], step == 0 ? terms.start[j] : sums.of[i][j], weights[j],
                                   value);
        }
    }
}

/* The group's warps expand a chunk of channels. */
template <class Form>
static __device__ __forceinline__ void face_expand(const struct face_place &place,
                                                   const struct face_source<Form> &source,
                                                   const uint8_t *packed, uint8_t *chunk) {
    const struct face_expand_terms terms =
        face_expand_terms_of(packed + Form::steps * KERNEL_FACE_STEP, place.row);
    uint8_t *words = chunk + face_words(place);
    uint4 weights[Form::steps][2];
#pragma unroll
    for (int unit = 0; unit < Form::units; unit += Form::batch) {
        struct face_expanded sums[Form::batch];
        if (face_lacks<Form>(place, unit)) {
            continue;
        }
#pragma unroll
        for (int step = 0; step < Form::steps; step++) {
            if (!Form::kept || unit == 0) {
                weights[step][0] = face_wide_weights(packed, 2 * step);
                weights[step][1] = face_wide_weights(packed, 2 * step + 1);
            }
#pragma unroll
            for (int i = 0; i < Form::batch && unit + i < Form::units; i++) {
                face_expand_step(source, unit + i, step, weights[step], terms, sums[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < Form::batch && unit + i < Form::units; i++) {
            if (i == 0 || !face_lacks<Form>(place, unit + i)) {
                face_store<Form>(place, unit + i, words, sums[i], terms);
            }
        }
    }
    if (!source.whole) {
        face_clear<Form>(source, words);
    }
}

/* ---- filter and projection ---- */

/* The weights of `depth` that a lane hands in: of each row of the 3x3, a byte for each eight channels. */
struct face_taps {
    uint32_t row[3];
};

static __device__ __forceinline__ struct face_taps face_taps_of(const uint8_t *packed) {
    const uint4 words = __ldg((const uint4 *)packed + threadIdx.x);
    return {{words.x, words.y, words.z}};
}

/* The column that a lane hands in, of eight channels: all is 0 but the weight of channel g. */
static __device__ __forceinline__ uint2 face_tap_column(const struct face_place &place, uint32_t weights,
                                                        int eighth) {
    return make_uint2(face_pick(weights, place.select.x + (uint32_t)eighth * place.next.x),
                      face_pick(weights, place.select.y + (uint32_t)eighth * place.next.y));
}

static __device__ __forceinline__ struct face_depth_terms face_depth_terms_of(const uint8_t *packed,
                                                                              int quad) {
    const uint4 *from = (const uint4 *)packed + quad;
    struct face_depth_terms terms;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        face_start_of(terms.start[i], from + i * KERNEL_FACE_QUAD);
    }
    face_scale_of(terms.scale, from + 4 * KERNEL_FACE_QUAD);
    face_scale_of(terms.scale + 4, from + 5 * KERNEL_FACE_QUAD);
    return terms;
}

/* Filters eight channels of the warp's pixels. Quad lane t takes column t of the 3x3, and lane 3 has weights
 * of 0; each instruction does a row of the 3x3, for a row of the upper and one of the lower half. */
template <class Form>
static __device__ __forceinline__ void face_filter(const struct face_place &place, const uint8_t *from,
                                                   const struct face_taps &taps, const int32_t start[4],
                                                   int eighth, int32_t sums[Form::rows][4][4]) {
    uint4 value[Form::window];
#pragma unroll
    for (int y = 0; y < Form::window; y++) {
        value[y] = *(const uint4 *)(from + y * Form::halo_width * KERNEL_FACE_PITCH);
    }
#pragma unroll
    for (int y = 0; y < 3; y++) {
        const uint2 weights = face_tap_column(place, taps.row[y], eighth);
#pragma unroll
        for (int r = 0; r < Form::rows; r++) {
            face_pixels_by_weights(sums[r][eighth], y == 0 ? start : sums[r][eighth],
                                   value[r * Form::stride + y], weights);
        }
    }
}

/* What a warp has of a chunk: the lane's values of pixel g in the upper and in the lower half. */
template <int Rows> struct face_values { uint2 of[Rows][2]; };

template <class Form>
static __device__ __forceinline__ struct face_values<Form::rows>
face_depth(const struct face_place &place, const struct face_taps &taps, const uint8_t *packed_terms,
           const uint8_t *chunk) {
    const struct face_depth_terms terms = face_depth_terms_of(packed_terms, place.quad);
    int pixel = place.top * Form::stride * Form::halo_width + (place.left + place.row) * Form::stride +
                min(place.quad, 2);
    const uint8_t *from = chunk + pixel * KERNEL_FACE_PITCH;
    struct face_values<Form::rows> values;
    int32_t sums[Form::rows][4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        face_filter<Form>(place, from + i * 2 * KERNEL_FACE_PAIR, taps, terms.start[i], i, sums);
    }
#pragma unroll
    for (int i = 0; i < 2 * Form::rows; i++) {
        int32_t value[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            value[j] = face_relu(sums[i / 2][j / 2][i % 2 * 2 + j % 2], terms.scale[j]);
        }
        values.of[i / 2][i % 2] = make_uint2(face_saturate(value[0], value[1], value[2], value[3]),
                                             face_saturate(value[4], value[5], value[6], value[7]));
    }
    return values;
}

/* Adds the chunk's share of the outputs. */
template <class Form>
static __device__ __forceinline__ void face_project(const uint8_t *packed,
                                                    const struct face_values<Form::rows> &values,
                                                    struct face_sums<Form> &sums) {
#pragma unroll
    for (int i = 0; i < Form::sixteenths; i++) {
        const uint4 weights = face_wide_weights(packed, i);
#pragma unroll
        for (int j = 0; j < 2 * Form::rows; j++) {
            int32_t *sum = sums.of[j / 2][j % 2][i];
            face_weights_by_pixels(sum, sum, weights, values.of[j / 2][j % 2]);
        }
    }
}

/* ---- all of it ---- */

template <class Form>
static __device__ __forceinline__ void face_wait_for_group(const struct face_place &place) {
    if (Form::groups == 1) {
        __syncthreads();
    } else {
        face_wait(place.group, Form::members * KERNEL_THREADS_X);
    }
}

/* The second half of a chunk's work. `packed`: from `depth` on, whose weights are in `taps`. */
template <class Form>
static __device__ __forceinline__ void face_reduce(const struct face_place &place,
                                                   const struct face_taps &taps, const uint8_t *packed,
                                                   const uint8_t *chunk, struct face_sums<Form> &sums) {
    packed += KERNEL_FACE_DEPTH;
    const struct face_values<Form::rows> values = face_depth<Form>(place, taps, packed, chunk);
    packed += KERNEL_FACE_TERMS + place.part * Form::sixteenths * KERNEL_FACE_ROWS;
    face_project<Form>(packed, values, sums);
}

/* Has the weights of a chunk fetched, which takes as long as some hundred instructions. */
template <class Form>
static __device__ __forceinline__ void face_fetch(const struct face_place &place, const uint8_t *packed,
                                                  int bytes) {
    constexpr int step = Form::members * KERNEL_THREADS_X * KERNEL_FACE_SECTOR;
    const int first = (place.member * KERNEL_THREADS_X + (int)threadIdx.x) * KERNEL_FACE_SECTOR;
#pragma unroll
    for (int i = 0; i < Form::packed_bytes; i += step) {
        if (first + i < bytes) {
            face_touch(packed + first + i, face_memory(Form::chunks_bytes + 4 * (int)threadIdx.x));
        }
    }
}

template <class Form>
static __device__ __forceinline__ void face_block_tile(const struct face_block_pass &block) {
    const struct face_place place = face_place_of<Form>(block);
    uint8_t *chunk = face_memory(place.group * (Form::chunks_bytes / Form::groups)), *other = chunk;
    const uint8_t *packed = (const uint8_t *)block.weights + place.group * block.chunk_bytes;
    struct face_sums<Form> sums = {};
    struct face_source<Form> source;
    face_fetch<Form>(place, packed, block.chunk_bytes);
    face_find<Form>(block, place, source);
    face_mark<Form>(block, place, source);
    other += Form::twice ? Form::chunk_bytes : 0;
    for (int i = 0; i < block.chunks; i += Form::groups) {
        const uint8_t *depth = packed + Form::steps * KERNEL_FACE_STEP + KERNEL_FACE_TERMS;
        if (i + Form::groups < block.chunks) {
            face_fetch<Form>(place, packed + Form::groups * block.chunk_bytes, block.chunk_bytes);
        }
        face_expand<Form>(place, source, packed, chunk);
        const struct face_taps taps = face_taps_of(depth);
        face_wait_for_group<Form>(place);
        face_reduce<Form>(place, taps, depth, chunk, sums);
        if (!Form::twice) {
            face_wait_for_group<Form>(place);
        }
        uint8_t *next = other;
        other = chunk;
        chunk = next;
        packed += Form::groups * block.chunk_bytes;
    }
    face_touched();
    __syncthreads();
    face_gather<Form>(place, sums);
    face_write<Form>(block, place);
}

#endif
