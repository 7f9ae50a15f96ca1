/* SPDX-License-Identifier: MIT
 * The operations of cpu/detect/simd/sse2.h for 64-bit ARM. There is no instruction for pairs: each product
 * is added on its own. */
#ifndef BLURD_CPU_DETECT_SIMD_NEON_H
#define BLURD_CPU_DETECT_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

typedef int32x4_t vec;
typedef float32x4_t flt;
typedef int16x8_t words;
typedef int16_t input;
typedef int16_t weight;

enum { LANES = 4, UNIT = 2, CHUNK = 8, SPLIT = 1 };
enum { TILE_1 = 8, TILE_2 = 6, TILE_3 = 4, TILE_4 = 4 };

static inline vec vec_at(const int32_t *from) {
    return vld1q_s32(from);
}
static inline void vec_put_sums(int32_t *to, vec a) {
    vst1q_s32(to, a);
}
static inline vec vec_inputs(const input *from) {
    int32_t two;
    memcpy(&two, from, sizeof two);
    return vdupq_n_s32(two);
}
static inline vec vec_dot(vec sum, vec x, const weight *weights) {
    int16x4_t both = vget_low_s16(vreinterpretq_s16_s32(x));
    sum = vmlal_lane_s16(sum, vld1_s16(weights), both, 0);
    return vmlal_lane_s16(sum, vld1_s16(weights + 4), both, 1);
}
static inline flt vec_scaled(vec a, const float *scale) {
    return vmulq_f32(vcvtq_f32_s32(a), vld1q_f32(scale));
}
static inline vec vec_round(flt a) {
    return vcvtnq_s32_f32(a);
}
static inline flt flt_at(const float *from) {
    return vld1q_f32(from);
}
static inline flt flt_relu(flt a) {
    return vmaxq_f32(a, vdupq_n_f32(0));
}
static inline flt flt_add(flt a, flt b) {
    return vaddq_f32(a, b);
}
static inline flt flt_multiply(flt a, flt b) {
    return vmulq_f32(a, b);
}
static inline flt flt_all(float a) {
    return vdupq_n_f32(a);
}
static inline flt flt_bytes(const uint8_t *from, size_t apart) {
    (void)apart;
    uint32_t four;
    memcpy(&four, from, sizeof four);
    uint16x8_t wide = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(wide)));
}
static inline void vec_put(uint8_t *to, const vec *a, unsigned vectors, unsigned bytes) {
    int16x8_t low = vcombine_s16(vqmovn_s32(a[0]), vqmovn_s32(a[vectors > 1 ? 1 : 0]));
    int16x8_t high = vectors > 2 ? vcombine_s16(vqmovn_s32(a[2]), vqmovn_s32(a[vectors > 3 ? 3 : 2])) : low;
    uint8x16_t all = vcombine_u8(vqmovun_s16(low), vqmovun_s16(high));
    if (bytes == 16) {
        vst1q_u8(to, all);
    } else {
        uint8_t spare[16];
        vst1q_u8(spare, all);
        memcpy(to, spare, bytes);
    }
}
static inline words words_bytes(const uint8_t *from) {
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from)));
}
/* Of a vector's eight weights the first four belong to a. */
static inline void words_dot(vec sum[2], words a, words b, const weight *weights) {
    words low = vld1q_s16(weights), high = vld1q_s16(weights + 8);
    sum[0] = vmlal_s16(sum[0], vget_low_s16(a), vget_low_s16(low));
    sum[0] = vmlal_s16(sum[0], vget_low_s16(b), vget_high_s16(low));
    sum[1] = vmlal_s16(sum[1], vget_high_s16(a), vget_low_s16(high));
    sum[1] = vmlal_s16(sum[1], vget_high_s16(b), vget_high_s16(high));
}

#endif
