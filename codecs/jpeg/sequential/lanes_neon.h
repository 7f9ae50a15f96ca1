/* SPDX-License-Identifier: MIT
 * The operations of lanes_sse2.h for NEON: one lane. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_NEON_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

typedef int16x8_t lanes;

/* Without VECTORS, only tests use it: libjpeg-turbo has NEON code, and neither has been timed on hardware. */
enum { LANES = 1, VECTORS = 0, FUSES = 0 };

static inline lanes lanes_load(const struct jpeg_dec_block *block, size_t at) {
    return vld1q_s16(block[0].values + at);
}
static inline lanes lanes_load_pair(const struct jpeg_dec_block *block, size_t at) {
    return vcombine_s16(vld1_s16(block[0].values + at), vld1_s16(block[1].values + at));
}
static inline lanes lanes_all(int a, int b) {
    return vreinterpretq_s16_u32(vdupq_n_u32((uint32_t)b << 16 | (uint16_t)a));
}
static inline lanes lanes_all32(int32_t a) {
    return vreinterpretq_s16_s32(vdupq_n_s32(a));
}
static inline lanes lanes_zero(void) {
    return vdupq_n_s16(0);
}
static inline int8x16_t lanes_8(lanes a) {
    return vreinterpretq_s8_s16(a);
}
static inline int32x4_t lanes_32(lanes a) {
    return vreinterpretq_s32_s16(a);
}
static inline int64x2_t lanes_64(lanes a) {
    return vreinterpretq_s64_s16(a);
}
static inline lanes lanes_low8(lanes a, lanes b) {
    return vreinterpretq_s16_s8(vzip1q_s8(lanes_8(a), lanes_8(b)));
}
static inline lanes lanes_high8(lanes a, lanes b) {
    return vreinterpretq_s16_s8(vzip2q_s8(lanes_8(a), lanes_8(b)));
}
static inline lanes lanes_low16(lanes a, lanes b) {
    return vzip1q_s16(a, b);
}
static inline lanes lanes_high16(lanes a, lanes b) {
    return vzip2q_s16(a, b);
}
static inline lanes lanes_low32(lanes a, lanes b) {
    return vreinterpretq_s16_s32(vzip1q_s32(lanes_32(a), lanes_32(b)));
}
static inline lanes lanes_high32(lanes a, lanes b) {
    return vreinterpretq_s16_s32(vzip2q_s32(lanes_32(a), lanes_32(b)));
}
static inline lanes lanes_low64(lanes a, lanes b) {
    return vreinterpretq_s16_s64(vzip1q_s64(lanes_64(a), lanes_64(b)));
}
static inline lanes lanes_high64(lanes a, lanes b) {
    return vreinterpretq_s16_s64(vzip2q_s64(lanes_64(a), lanes_64(b)));
}
static inline lanes lanes_add16(lanes a, lanes b) {
    return vaddq_s16(a, b);
}
static inline lanes lanes_sub16(lanes a, lanes b) {
    return vsubq_s16(a, b);
}
static inline lanes lanes_add32(lanes a, lanes b) {
    return vreinterpretq_s16_s32(vaddq_s32(lanes_32(a), lanes_32(b)));
}
static inline lanes lanes_sub32(lanes a, lanes b) {
    return vreinterpretq_s16_s32(vsubq_s32(lanes_32(a), lanes_32(b)));
}
static inline lanes lanes_products(lanes pairs, lanes factors) {
    int32x4_t low = vmull_s16(vget_low_s16(pairs), vget_low_s16(factors));
    return vreinterpretq_s16_s32(vpaddq_s32(low, vmull_high_s16(pairs, factors)));
}
static inline lanes lanes_add_products(lanes sum, lanes pairs, lanes factors) {
    return lanes_add32(sum, lanes_products(pairs, factors));
}
static inline lanes lanes_shift32(lanes a, int count) {
    return vreinterpretq_s16_s32(vshlq_s32(lanes_32(a), vdupq_n_s32(-count)));
}
static inline lanes lanes_pack32(lanes a, lanes b) {
    return vcombine_s16(vqmovn_s32(lanes_32(a)), vqmovn_s32(lanes_32(b)));
}
static inline lanes lanes_pack16(lanes a, lanes b) {
    int8x16_t packed = vcombine_s8(vqmovn_s16(a), vqmovn_s16(b));
    return vreinterpretq_s16_s8(veorq_s8(packed, vdupq_n_s8(INT8_MIN)));
}
static inline void lanes_store(const lanes row[4], const struct jpeg_dec_block *block, size_t step) {
    uint8_t *to = block->to;
    size_t stride = block->part->stride;
    (void)step; /* there is one */
    for (unsigned i = 0; i < 4; i++, to += 2 * stride) {
        vst1_u8(to, vget_low_u8(vreinterpretq_u8_s16(row[i])));
        vst1_u8(to + stride, vget_high_u8(vreinterpretq_u8_s16(row[i])));
    }
}

#endif
