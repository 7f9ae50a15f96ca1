/* SPDX-License-Identifier: MIT
 * The end of an inverted residual block: the sums of its tile become bytes of the target. */
#ifndef BLURD_GPU_DETECT_RESULT_CUH
#define BLURD_GPU_DETECT_RESULT_CUH

#include "gpu/detect/form.cuh"
#include "gpu/detect/matrix.cuh"

/* The sums of a lane for the outputs: of pixels 2t and 2t + 1 in the tile's upper and lower half, outputs g
 * and g + 8 of each sixteen. */
template <class Form> struct face_sums { int32_t of[Form::rows][2][Form::sixteenths][4]; };

/* Values from pixel to pixel of the sums in shared memory, so that a warp's stores meet different banks. */
static __device__ __forceinline__ int face_sums_pitch(const struct face_block_pass &block) {
    return (block.part + 15) / 16 * 16 + 4;
}

/* Writes the sums of a group, or adds them. */
template <class Form, bool Add>
static __device__ __forceinline__ void face_gather_group(const struct face_block_pass &block, int32_t *to,
                                                         const struct face_sums<Form> &sums) {
#pragma unroll
    for (int i = 0; i < Form::sixteenths; i++) {
        if (16 * i < block.part) {
#pragma unroll
            for (int j = 0; j < 8 * Form::rows; j++) {
                int pixel = (j / 8 + j / 4 % 2 * Form::height / 2) * Form::width + j % 2;
                int32_t *at = to + pixel * face_sums_pitch(block) + 16 * i + j / 2 % 2 * 8;
                int32_t sum = sums.of[j / 8][j / 4 % 2][i][j % 4];
                if (Add) {
                    atomicAdd(at, sum);
                } else {
                    *at = sum;
                }
            }
        }
    }
}

/* Puts the sums of all groups together in shared memory. */
template <class Form>
static __device__ __forceinline__ void face_gather(const struct face_block_pass &block,
                                                   const struct face_place &place,
                                                   const struct face_sums<Form> &sums) {
    int pitch = face_sums_pitch(block);
    int first = place.top * Form::width + place.left + 2 * place.quad;
    int32_t *to = (int32_t *)block_memory + first * pitch + place.row;
    if (place.group == 0) {
        face_gather_group<Form, false>(block, to, sums);
    }
    __syncthreads();
    if (Form::groups > 1) {
        if (place.group > 0) {
            face_gather_group<Form, true>(block, to, sums);
        }
        __syncthreads();
    }
}

/* Biases and scales of four outputs. */
struct face_output_terms {
    uint4 bias, scale;
};

static __device__ __forceinline__ float face_byte(uint32_t word, int index) {
    return (float)(int32_t)(word >> 8 * index & 0xff);
}

static __device__ __forceinline__ int32_t face_finish_one(const struct face_block_pass &block, uint32_t sum,
                                                          uint32_t bias, uint32_t scale, float addend) {
    float value = __fmul_rn((float)(int32_t)(sum + bias), __uint_as_float(scale));
    if (block.addend) {
        value = __fadd_rn(value, __fmul_rn(addend, block.addend_scale));
    }
    return face_nearest(__fadd_rn(value, block.offset));
}

/* Makes four channels of a pixel of the target. */
static __device__ __forceinline__ void face_finish(const struct face_block_pass &block, int64_t at,
                                                   const struct face_output_terms &terms,
                                                   const int32_t *sums) {
    uint32_t addend = block.addend ? __ldg((const uint32_t *)(block.addend + at)) : 0;
    uint4 sum = *(const uint4 *)sums;
    *(uint32_t *)(block.target + at) =
        face_saturate(face_finish_one(block, sum.x, terms.bias.x, terms.scale.x, face_byte(addend, 0)),
                      face_finish_one(block, sum.y, terms.bias.y, terms.scale.y, face_byte(addend, 1)),
                      face_finish_one(block, sum.z, terms.bias.z, terms.scale.z, face_byte(addend, 2)),
                      face_finish_one(block, sum.w, terms.bias.w, terms.scale.w, face_byte(addend, 3)));
}

/* A thread has the same four channels of several pixels. */
template <class Form>
static __device__ __forceinline__ void face_write(const struct face_block_pass &block,
                                                  const struct face_place &place) {
    int first = place.thread * block.quarter_inverse >> 16;
    int channel = 4 * (place.thread - first * block.quarters), all = place.part * block.part + channel;
    if (first >= block.at_once) {
        return;
    }
    const struct face_output_terms terms = {__ldg((const uint4 *)((const int32_t *)block.biases + all)),
                                            __ldg((const uint4 *)((const float *)block.scales + all))};
    const int32_t *sums = (const int32_t *)block_memory + channel;
    for (int pixel = first; pixel < Form::pixels; pixel += block.at_once) {
        int x = place.x + pixel % Form::width, y = place.y + pixel / Form::width;
        if (x < block.out_width && y < block.out_height) {
            int64_t at = (int64_t)(y * block.out_width + x) * block.outputs + all;
            face_finish(block, at, terms, sums + pixel * face_sums_pitch(block));
        }
    }
}

#endif
