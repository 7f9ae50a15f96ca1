/* SPDX-License-Identifier: MIT
 * The end of an inverted residual block: the sums of its tile become bytes of the target. */
#ifndef BLURD_GPU_DETECT_RESULT_CUH
#define BLURD_GPU_DETECT_RESULT_CUH

#include "gpu/detect/form.cuh"
#include "gpu/detect/matrix.cuh"

/* The sums of a lane for the outputs: of pixels 2t and 2t + 1 in the tile's upper and lower half, outputs g
 * and g + 8 of each sixteen. */
template <class Form> struct face_sums { int32_t of[Form::rows][2][Form::sixteenths][4]; };

/* Writes the sums of a group, or adds them. */
template <class Form, bool Add>
static __device__ __forceinline__ void face_gather_group(int32_t *to, const struct face_sums<Form> &sums) {
#pragma unroll
    for (int i = 0; i < Form::rows * 2 * Form::sixteenths * 4; i++) {
        int j = i % 4, sixteenth = i / 4 % Form::sixteenths, half = i / 4 / Form::sixteenths % 2;
        int row = i / 4 / Form::sixteenths / 2;
        int pixel = (row + half * Form::height / 2) * Form::width + j % 2;
        int32_t *at = to + pixel * Form::pitch + 16 * sixteenth + j / 2 * 8;
        if (Add) {
            atomicAdd(at, sums.of[row][half][sixteenth][j]);
        } else {
            *at = sums.of[row][half][sixteenth][j];
        }
    }
}

/* Puts the sums of all groups together in shared memory. */
template <class Form>
static __device__ __forceinline__ void face_gather(const struct face_place &place,
                                                   const struct face_sums<Form> &sums) {
    int first = place.top * Form::width + place.left + 2 * place.quad;
    int32_t *to = (int32_t *)block_memory + first * Form::pitch + place.row;
    if (place.group == 0) {
        face_gather_group<Form, false>(to, sums);
    }
    __syncthreads();
    if (Form::groups > 1) {
        if (place.group > 0) {
            face_gather_group<Form, true>(to, sums);
        }
        __syncthreads();
    }
}

/* Biases and scales of four outputs. */
struct face_output_terms {
    uint4 bias, scale;
};

/* In units of 2^49; see face_relu. */
template <bool Add>
static __device__ __forceinline__ int32_t face_finish_one(const struct face_block_pass &block, uint32_t sum,
                                                          uint32_t bias, uint32_t scale, uint32_t addend) {
    float value = __fmul_rn((float)(int32_t)(sum + bias), __uint_as_float(scale));
    if (Add) {
        value = __fadd_rn(value, __fmul_rn(__uint_as_float(addend), block.addend_scale));
    }
    return face_nearest(__fadd_rn(value, block.offset));
}

static __device__ __forceinline__ uint32_t face_byte(uint32_t word, int index) {
    return __byte_perm(word, 0, 0x4440u + (uint32_t)index);
}

/* Makes four channels of a pixel of the target. */
template <bool Add>
static __device__ __forceinline__ uint32_t face_finish(const struct face_block_pass &block, uint32_t addend,
                                                       const struct face_output_terms &terms, uint4 sum) {
    return face_saturate(
        face_finish_one<Add>(block, sum.x, terms.bias.x, terms.scale.x, face_byte(addend, 0)),
        face_finish_one<Add>(block, sum.y, terms.bias.y, terms.scale.y, face_byte(addend, 1)),
        face_finish_one<Add>(block, sum.z, terms.bias.z, terms.scale.z, face_byte(addend, 2)),
        face_finish_one<Add>(block, sum.w, terms.bias.w, terms.scale.w, face_byte(addend, 3)));
}

/* Makes four channels of `count` pixels, one below the other, `step` bytes from each other. */
template <class Form, bool Add>
static __device__ __forceinline__ void
face_write_column(const struct face_block_pass &block, int64_t at, int64_t step, int count,
                  const struct face_output_terms &terms, const int32_t *sums) {
    uint32_t *to = (uint32_t *)(block.target + at);
    const uint32_t *from = (const uint32_t *)(block.addend + at);
    const int next = block.rows * Form::width * Form::pitch;
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        *to = face_finish<Add>(block, Add ? __ldg(from) : 0, terms, *(const uint4 *)sums);
        to += step / 4;
        from += Add ? step / 4 : 0;
        sums += next;
    }
}

/* A thread has the same four channels of a column of the tile. */
template <class Form>
static __device__ __forceinline__ void face_write(const struct face_block_pass &block,
                                                  const struct face_place &place) {
    int first = place.thread * block.span_inverse >> 16;
    int x = first % Form::width, y = first / Form::width;
    int end = min(Form::height, block.out_height - place.y);
    if (y >= min(block.rows, end) || place.x + x >= block.out_width) {
        return;
    }
    int64_t pixel = (place.y + y) * block.out_width + place.x + x;
    int64_t step = (int64_t)(block.rows * block.out_width) * block.outputs;
    int count = (end - y + block.rows - 1) / block.rows;
    for (int i = place.thread - first * block.span; i < block.part / 4; i += block.span) {
        int channel = place.part * block.part + 4 * i;
        const struct face_output_terms terms = {__ldg((const uint4 *)block.biases + channel / 4),
                                                __ldg((const uint4 *)block.scales + channel / 4)};
        const int32_t *sums = (const int32_t *)block_memory + first * Form::pitch + 4 * i;
        int64_t at = pixel * block.outputs + channel;
        if (block.addend) {
            face_write_column<Form, true>(block, at, step, count, terms, sums);
        } else {
            face_write_column<Form, false>(block, at, step, count, terms, sums);
        }
    }
}

#endif
