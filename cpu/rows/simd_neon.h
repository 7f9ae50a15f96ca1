/* SPDX-License-Identifier: MIT
 * The operations of cpu/rows/simd_sse2.h for 64-bit ARM, and permutations of 32-bit numbers. There is no
 * instruction for pairs: where their order does not matter, each product is added on its own. */
#ifndef BLURD_CPU_ROWS_SIMD_NEON_H
#define BLURD_CPU_ROWS_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>

typedef int16x8_t vec;

enum { VEC_LANES = 8 };

static inline int32x4_t vec_words(vec a) {
    return vreinterpretq_s32_s16(a);
}
static inline vec vec_from_words(int32x4_t a) {
    return vreinterpretq_s16_s32(a);
}

static inline vec vec_load(const void *from) {
    return vld1q_s16(from);
}
static inline vec vec_load_bytes(const uint8_t *from) {
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from)));
}
static inline void vec_store(void *to, vec a) {
    vst1q_s16(to, a);
}
static inline void vec_store_bytes(uint8_t *to, vec a) {
    vst1_u8(to, vmovn_u16(vreinterpretq_u16_s16(a)));
}
static inline void vec_store_halves(int16_t *to, vec a) {
    vst1_s16(to, vmovn_s32(vec_words(a)));
}
static inline vec vec_all(int32_t value) {
    return vec_from_words(vdupq_n_s32(value));
}
static inline vec vec_add16(vec a, vec b) {
    return vaddq_s16(a, b);
}
static inline vec vec_multiply_add(vec sum, vec a, vec b) {
    int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
    int32x4_t high = vmull_high_s16(a, b);
    return vec_from_words(vaddq_s32(vec_words(sum), vpaddq_s32(low, high)));
}
static inline void vec_add_products(vec sum[2], vec a, vec b, vec weight) {
    int32x4_t low = vmlal_laneq_s16(vec_words(sum[0]), vget_low_s16(a), weight, 0);
    int32x4_t high = vmlal_high_laneq_s16(vec_words(sum[1]), a, weight, 0);
    sum[0] = vec_from_words(vmlal_laneq_s16(low, vget_low_s16(b), weight, 1));
    sum[1] = vec_from_words(vmlal_high_laneq_s16(high, b, weight, 1));
}
static inline vec vec_pack(vec low, vec high) {
    return vmovn_high_s32(vmovn_s32(vec_words(low)), vec_words(high));
}
/* vshrq_n_s32 needs a constant; this becomes the same instruction. */
static inline vec vec_shift(vec a, int count) {
    return vec_from_words(vec_words(a) >> count);
}

/* Pairs (a, b) of VEC_LANES / 2 neighbours each, in order. */
static inline vec vec_pairs(const int16_t *a, const int16_t *b) {
    int16x4x2_t pairs = vzip_s16(vld1_s16(a), vld1_s16(b));
    return vcombine_s16(pairs.val[0], pairs.val[1]);
}
/* The 32-bit numbers of a at the places `index`. */
static inline vec vec_pick(vec a, vec index) {
    uint32x4_t first = vmulq_n_u32(vreinterpretq_u32_s16(index), 0x04040404); /* its first byte, four times */
    uint32x4_t bytes = vaddq_u32(first, vdupq_n_u32(0x03020100));
    return vreinterpretq_s16_u8(vqtbl1q_u8(vreinterpretq_u8_s16(a), vreinterpretq_u8_u32(bytes)));
}
/* (0, 1, 2, ... + first) >> shift */
static inline vec vec_ramp(int first, unsigned shift) {
    static const int32_t lane[VEC_LANES / 2] = {0, 1, 2, 3};
    return vec_from_words(vaddq_s32(vld1q_s32(lane), vdupq_n_s32(first)) >> (int)shift);
}

#endif
