/* SPDX-License-Identifier: MIT
 * Makes quantised coefficients of samples: libjpeg's accurate integer transform (jfdctint.c, after Loeffler,
 * Ligtenberg and Moschytz), then division that rounds to the nearest. Then lists them. */
#ifndef BLURD_GPU_JPEG_ENCODE_TRANSFORM_CUH
#define BLURD_GPU_JPEG_ENCODE_TRANSFORM_CUH

#include "gpu/jpeg/encode_symbols.cuh"
#include "gpu/stream/dot.cuh"

enum {
    ENCODE_PASS_BITS = 2,   /* fractional bits after the first pass */
    ENCODE_CONST_BITS = 13, /* fractional bits of the constants */
    ENCODE_SCALE = 3,       /* log2 of the transform's factor of 8 */
};

/* Takes 128 off each of four bytes, which have a sign then. */
static const uint32_t ENCODE_MIDDLES = 0x80808080u;

/* The source of a block's samples. */
struct encode_origin {
    uint32_t component;
    int x, y;   /* in blocks */
    bool dummy; /* fills up an MCU: has the DC of the block before and no AC */
};

static __device__ __forceinline__ struct encode_origin encode_origin_of(const struct encode_pass &pass,
                                                                        uint32_t block) {
    uint32_t mcu = encode_divide(block, pass.in_mcu, pass.inverse_mcu), in_mcu = block - mcu * pass.in_mcu;
    uint32_t row = encode_divide(mcu, pass.mcus_x, pass.inverse_x), column = mcu - row * pass.mcus_x;
    struct encode_origin origin;
    origin.component = encode_component_of(pass, in_mcu);
    const struct encode_component &component = pass.component[origin.component];
    int index = (int)(in_mcu - component.first), last_x = (1 << component.shift_x) - 1;
    origin.x = (int)(column << component.shift_x) + (index & last_x);
    origin.y = (int)(row << component.shift_y) + (index >> component.shift_x);
    origin.dummy = origin.x >= component.blocks_x || origin.y >= component.blocks_y;
    if (origin.y >= component.blocks_y) {
        origin.y = component.blocks_y - 1;
        origin.x = (int)(column << component.shift_x) + last_x;
    }
    origin.x = min(origin.x, component.blocks_x - 1);
    return origin;
}

/* Loads a row of 8 samples, minus 128, a byte each. The plane's last column and row repeat outside of it. */
static __device__ __forceinline__ uint2 encode_load(const struct kernel_grid &grid, int x, int y) {
    const uint8_t *row = row_of<const uint8_t>(grid, min(y, grid.height - 1));
    uint2 words = make_uint2(0, 0);
    if (x + KERNEL_ENCODE_SIDE <= grid.width) {
        words = *(const uint2 *)(row + x);
    } else {
        for (int i = 0; i < KERNEL_ENCODE_SIDE / 2; i++) {
            words.x |= (uint32_t)row[min(x + i, grid.width - 1)] << 8 * i;
            words.y |= (uint32_t)row[min(x + i + 4, grid.width - 1)] << 8 * i;
        }
    }
    return make_uint2(words.x ^ ENCODE_MIDDLES, words.y ^ ENCODE_MIDDLES);
}

template <int Bits> static __device__ __forceinline__ int32_t encode_round(int32_t value) {
    return (value + (1 << (Bits - 1))) >> Bits;
}

/* The sum of four bytes with a sign, each times its factor, and `start`. */
template <int A, int B, int C, int D>
static __device__ __forceinline__ int32_t encode_dot(uint32_t bytes, int32_t start) {
    const int ab = (int)((uint32_t)(uint16_t)A | (uint32_t)B << 16);
    const int cd = (int)((uint32_t)(uint16_t)C | (uint32_t)D << 16);
    return dot_high_signed(cd, (int)bytes, dot_low_signed(ab, (int)bytes, start));
}

/* A coefficient of odd order: the last four factors are the first four in reverse, negated. The complement of
 * a sample, of which `rest` has those in reverse, is its negative less 1. */
template <int A, int B, int C, int D>
static __device__ __forceinline__ int32_t encode_odd_order(uint32_t bytes, uint32_t rest) {
    const int bits = ENCODE_CONST_BITS - ENCODE_PASS_BITS, start = (1 << (bits - 1)) + A + B + C + D;
    return encode_dot<A, B, C, D>(rest, encode_dot<A, B, C, D>(bytes, start)) >> bits;
}

/* One of even order: the last four factors are the first four in reverse. */
template <int A, int B, int C, int D>
static __device__ __forceinline__ int32_t encode_even_order(uint32_t bytes, uint32_t rest) {
    const int bits = ENCODE_CONST_BITS - ENCODE_PASS_BITS;
    return encode_dot<A, B, C, D>(rest, encode_dot<A, B, C, D>(bytes, 1 << (bits - 1))) >> bits;
}

/* Transforms a row of 8 samples. The results are 4 times larger. All of libjpeg's steps before it rounds are
 * linear, so each coefficient is a sum of products here. The factors are sums of the constants that
 * encode_transform_column has. */
static __device__ __forceinline__ void encode_transform_row(const uint2 &samples, int32_t *value) {
    uint32_t bytes = samples.x, reverse = __byte_perm(samples.y, 0, 0x0123), negative = ~reverse;
    value[0] = dot_four_signed((int)reverse, 0x04040404, dot_four_signed((int)bytes, 0x04040404, 0));
    value[4] = dot_four_signed((int)reverse, 0x04fcfc04,
                               dot_four_signed((int)bytes, 0x04fcfc04, 0)); /* 4, -4, -4, 4 */
    value[1] = encode_odd_order<11363, 9633, 6437, 2260>(bytes, negative);
    value[2] = encode_even_order<10703, 4433, -4433, -10703>(bytes, reverse);
    value[3] = encode_odd_order<9633, -2259, -11362, -6436>(bytes, negative);
    value[5] = encode_odd_order<6437, -11362, 2261, 9633>(bytes, negative);
    value[6] = encode_even_order<4433, -10704, 10704, -4433>(bytes, reverse);
    value[7] = encode_odd_order<2260, -6436, 9633, -11363>(bytes, negative);
}

/* Makes the odd coefficients of the differences 3, 2, 1, 0. */
template <int Bits>
static __device__ __forceinline__ void encode_odd(int32_t *value, int32_t t4, int32_t t5, int32_t t6,
                                                  int32_t t7) {
    int32_t z5 = (t4 + t6 + t5 + t7) * 9633;
    int32_t z1 = (t4 + t7) * -7373, z2 = (t5 + t6) * -20995;
    int32_t z3 = (t4 + t6) * -16069 + z5, z4 = (t5 + t7) * -3196 + z5;
    value[7] = encode_round<Bits>(t4 * 2446 + z1 + z3);
    value[5] = encode_round<Bits>(t5 * 16819 + z2 + z4);
    value[3] = encode_round<Bits>(t6 * 25172 + z2 + z3);
    value[1] = encode_round<Bits>(t7 * 12299 + z1 + z4);
}

/* Transforms a column of 8 values of rows. */
static __device__ __forceinline__ void encode_transform_column(int32_t *value) {
    const int bits = ENCODE_CONST_BITS + ENCODE_PASS_BITS;
    int32_t t0 = value[0] + value[7], t7 = value[0] - value[7], t1 = value[1] + value[6],
            t6 = value[1] - value[6];
    int32_t t2 = value[2] + value[5], t5 = value[2] - value[5], t3 = value[3] + value[4],
            t4 = value[3] - value[4];
    int32_t t10 = t0 + t3, t13 = t0 - t3, t11 = t1 + t2, t12 = t1 - t2;
    int32_t z1 = (t12 + t13) * 4433;
    value[0] = encode_round<ENCODE_PASS_BITS>(t10 + t11);
    value[4] = encode_round<ENCODE_PASS_BITS>(t10 - t11);
    value[2] = encode_round<bits>(z1 + t13 * 6270);
    value[6] = encode_round<bits>(z1 - t12 * 15137);
    encode_odd<bits>(value, t4, t5, t6, t7);
}

/* value / divisor, rounded to the nearest, halves away from 0, in 16 bits. `inverse` is above 1 / divisor by
 * at most 2^-22 of it, so a half becomes a little more, and others, which are 1 / divisor away from a half,
 * stay on their side, since values have 15 bits. Adding 1.5 * 2^23 leaves the rounded number in the lowest
 * bits. */
static __device__ __forceinline__ int16_t encode_quantise(int32_t value, float inverse) {
    const float place = 12582912.0f;
    float exact = __int_as_float(0x4b400000 + value) - place;
    return (int16_t)(uint16_t)__float_as_uint(__fmaf_rn(exact, inverse, place));
}

/* Fills shared memory; clears the bits and the counters that later kernels write. */
static __device__ __forceinline__ void encode_prepare(const struct encode_pass &pass,
                                                      struct encode_transform_shared &shared) {
    uint32_t thread = encode_thread();
    if (thread < 2 * KERNEL_ENCODE_TABLES * KERNEL_ENCODE_COEFFICIENTS) {
        uint32_t table = thread / KERNEL_ENCODE_COEFFICIENTS, k = thread % KERNEL_ENCODE_COEFFICIENTS;
        float inverse = pass.inverse[table % KERNEL_ENCODE_TABLES][k];
        shared.inverse[table][k] = table < KERNEL_ENCODE_TABLES || k == 0 ? inverse : 0;
        shared.place[k] = pass.place[k];
    }
    encode_clear(pass, shared.count[0], KERNEL_ENCODE_TABLES * KERNEL_ENCODE_SYMBOLS);
    uint4 *bits = (uint4 *)pass.bits;
    uint32_t count = (uint32_t)(pass.capacity / sizeof *bits);
    for (uint32_t i = blockIdx.x * KERNEL_ENCODE_THREADS + thread; i < count;
         i += gridDim.x * KERNEL_ENCODE_THREADS) {
        bits[i] = make_uint4(0, 0, 0, 0);
    }
    if (blockIdx.x == 0 && thread == 0) {
        struct encode_state *state = (struct encode_state *)pass.state;
        stamp_now(pass.marks, KERNEL_ENCODING);
        state->finished[0] = state->finished[1] = state->finished[2] = 0;
    }
}

/* Where a thread's coefficients belong in shared.zigzag, in bytes. */
static __device__ __forceinline__ void encode_places(const struct encode_transform_shared &shared,
                                                     uint32_t *places) {
    uint32_t block = encode_thread() / ENCODE_LANES, lane = encode_thread() % ENCODE_LANES;
#pragma unroll
    for (uint32_t i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        uint32_t place = shared.place[i * KERNEL_ENCODE_SIDE + lane];
        places[i] = (block * KERNEL_ENCODE_ROOM + place) * (uint32_t)sizeof(int16_t);
    }
}

static __device__ __forceinline__ uint32_t encode_pair(int32_t low, int32_t high) {
    return __byte_perm((uint32_t)low, (uint32_t)high, 0x5410);
}

/* Leaves a block's coefficients in zigzag order. All threads of the warp call it. */
static __device__ __forceinline__ void encode_transform_block(const struct encode_pass &pass,
                                                              struct encode_transform_shared &shared,
                                                              const struct encode_origin &origin,
                                                              const uint32_t *places) {
    uint32_t block = encode_thread() / ENCODE_LANES, lane = encode_thread() % ENCODE_LANES;
    const struct encode_component &component = pass.component[origin.component];
    int32_t value[KERNEL_ENCODE_SIDE];
    int16_t *work = shared.work[block];
    encode_transform_row(
        encode_load(component.grid, origin.x * KERNEL_ENCODE_SIDE, origin.y * KERNEL_ENCODE_SIDE + (int)lane),
        value);
    *(uint4 *)(work + lane * KERNEL_ENCODE_SIDE) =
        make_uint4(encode_pair(value[0], value[1]), encode_pair(value[2], value[3]),
                   encode_pair(value[4], value[5]), encode_pair(value[6], value[7]));
    __syncwarp();
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        value[i] = work[i * KERNEL_ENCODE_SIDE + (int)lane];
    }
    encode_transform_column(value);
    uint32_t table = component.table + (origin.dummy ? KERNEL_ENCODE_TABLES : 0);
    const float4 *inverses = (const float4 *)(shared.inverse[table] + lane * KERNEL_ENCODE_SIDE);
    const float4 low = inverses[0], high = inverses[1];
    const float inverse[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        *(int16_t *)((uint8_t *)shared.zigzag + places[i]) = encode_quantise(value[i], inverse[i]);
    }
    __syncwarp();
}

/* Each warp has a quad of each group, so no warp waits for another. */
static __device__ __forceinline__ void encode_transform_groups(const struct encode_pass &pass) {
    struct encode_transform_shared &shared = *(struct encode_transform_shared *)block_memory;
    uint32_t groups = (pass.count + KERNEL_ENCODE_GROUP - 1) / KERNEL_ENCODE_GROUP,
             places[KERNEL_ENCODE_SIDE];
    encode_prepare(pass, shared);
    __syncthreads();
    encode_places(shared, places);
#pragma unroll 1
    for (uint32_t group = blockIdx.x; group < groups; group += gridDim.x) {
        uint32_t at = group * KERNEL_ENCODE_GROUP + encode_thread() / ENCODE_LANES;
        struct encode_origin origin = encode_origin_of(pass, min(at, pass.count - 1));
        encode_transform_block(pass, shared, origin, places);
        encode_list(pass, shared, group, pass.component[origin.component].table);
        __syncwarp(); /* before the next group overwrites the quad's memory */
    }
    encode_add_lists(pass, shared);
}

#endif
