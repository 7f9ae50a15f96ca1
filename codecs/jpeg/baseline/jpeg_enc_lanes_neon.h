/* SPDX-License-Identifier: MIT
 * The operations of jpeg_enc_lanes_sse2.h for NEON: one lane. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_NEON_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_NEON_H

#include "codecs/jpeg/baseline/jpeg_enc_order.h"
#include "codecs/jpeg/sequential/lanes_neon.h"

enum { SORTS = 0 };

static inline lanes lanes_samples(const uint8_t *from) {
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(from)));
}
static inline lanes lanes_every(const uint16_t *from) {
    return vreinterpretq_s16_u16(vld1q_u16(from));
}
static inline lanes lanes_shift_up2(lanes a) {
    return vshlq_s16(a, vdupq_n_s16(2));
}
static inline lanes lanes_shift_down2(lanes a) {
    return vshlq_s16(a, vdupq_n_s16(-2));
}
static inline lanes lanes_absolute(lanes a) {
    return vabsq_s16(a);
}
static inline lanes lanes_signed(lanes a, lanes sign) {
    int16x8_t negative = vshrq_n_s16(sign, 15);
    return vsubq_s16(veorq_s16(a, negative), negative);
}
static inline lanes lanes_high_product(lanes a, lanes b) {
    uint16x8_t x = vreinterpretq_u16_s16(a), y = vreinterpretq_u16_s16(b);
    uint16x4_t low = vshrn_n_u32(vmull_u16(vget_low_u16(x), vget_low_u16(y)), 16);
    return vreinterpretq_s16_u16(vshrn_high_n_u32(low, vmull_high_u16(x, y), 16));
}
static inline void lanes_keep(const lanes row[8], struct jpeg_enc_piece *piece, unsigned at) {
    static const uint16_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint64_t filled = 0;
    for (unsigned i = 0; i < 8; i += 2) {
        unsigned some = vaddvq_u16(vandq_u16(vtstq_s16(row[i], row[i]), vld1q_u16(bit)));
        some |= (unsigned)vaddvq_u16(vandq_u16(vtstq_s16(row[i + 1], row[i + 1]), vld1q_u16(bit))) << 8;
        filled |= jpeg_enc_order_of(&piece->order, i, some);
        vst1q_s16(&piece->blocks.value[at][8 * i], row[i]);
        vst1q_s16(&piece->blocks.value[at][8 * i + 8], row[i + 1]);
    }
    piece->blocks.filled[at] = filled;
}

#endif
