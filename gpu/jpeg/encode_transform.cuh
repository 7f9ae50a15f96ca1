/* SPDX-License-Identifier: MIT
 * Makes quantised coefficients of samples: libjpeg's accurate integer transform (jfdctint.c, after Loeffler,
 * Ligtenberg and Moschytz), then division that rounds to the nearest. Then lists them. */
#ifndef BLURD_GPU_JPEG_ENCODE_TRANSFORM_CUH
#define BLURD_GPU_JPEG_ENCODE_TRANSFORM_CUH

#include "gpu/jpeg/encode_symbols.cuh"

enum {
    ENCODE_PASS_BITS = 2,   /* fractional bits after the first pass */
    ENCODE_CONST_BITS = 13, /* fractional bits of the constants */
    ENCODE_SCALE = 3,       /* log2 of the transform's factor of 8 */
    ENCODE_MIDDLE = 128,
};

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

/* Loads a row of 8 samples, minus 128. The plane's last column and row repeat outside of it. */
static __device__ __forceinline__ void encode_load(const struct kernel_grid &grid, int x, int y,
                                                   int32_t *value) {
    const uint8_t *row = row_of<const uint8_t>(grid, min(y, grid.height - 1));
    if (x + KERNEL_ENCODE_SIDE <= grid.width) {
        uint2 words = *(const uint2 *)(row + x);
#pragma unroll
        for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
            uint32_t word = i < 4 ? words.x : words.y;
            value[i] = (int32_t)(word >> 8 * (i & 3) & 0xff) - ENCODE_MIDDLE;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        value[i] = row[min(x + i, grid.width - 1)] - ENCODE_MIDDLE;
    }
}

template <int Bits> static __device__ __forceinline__ int32_t encode_round(int32_t value) {
    return (value + (1 << (Bits - 1))) >> Bits;
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

/* Transforms 8 values. The first pass leaves them 4 times larger. */
template <bool First> static __device__ __forceinline__ void encode_transform_8(int32_t *value) {
    const int bits = First ? ENCODE_CONST_BITS - ENCODE_PASS_BITS : ENCODE_CONST_BITS + ENCODE_PASS_BITS;
    int32_t t0 = value[0] + value[7], t7 = value[0] - value[7], t1 = value[1] + value[6],
            t6 = value[1] - value[6];
    int32_t t2 = value[2] + value[5], t5 = value[2] - value[5], t3 = value[3] + value[4],
            t4 = value[3] - value[4];
    int32_t t10 = t0 + t3, t13 = t0 - t3, t11 = t1 + t2, t12 = t1 - t2;
    int32_t z1 = (t12 + t13) * 4433;
    value[0] = First ? (t10 + t11) * (1 << ENCODE_PASS_BITS) : encode_round<ENCODE_PASS_BITS>(t10 + t11);
    value[4] = First ? (t10 - t11) * (1 << ENCODE_PASS_BITS) : encode_round<ENCODE_PASS_BITS>(t10 - t11);
    value[2] = encode_round<bits>(z1 + t13 * 6270);
    value[6] = encode_round<bits>(z1 - t12 * 15137);
    encode_odd<bits>(value, t4, t5, t6, t7);
}

/* Exact, because the dividend has less than 15 bits and the divisor less than 12. */
static __device__ __forceinline__ int32_t encode_quantise(int32_t value, uint32_t divisor, uint32_t inverse) {
    uint32_t whole = (uint32_t)(value < 0 ? -value : value) + divisor / 2;
    int32_t result = (int32_t)((uint64_t)whole * inverse >> 32);
    return value < 0 ? -result : result;
}

/* Fills shared memory; clears the bits and the counters that later kernels write. */
static __device__ __forceinline__ void encode_prepare(const struct encode_pass &pass,
                                                      struct encode_transform_shared &shared) {
    uint32_t thread = encode_thread();
    if (thread < KERNEL_ENCODE_TABLES * KERNEL_ENCODE_COEFFICIENTS) {
        uint32_t table = thread / KERNEL_ENCODE_COEFFICIENTS, k = thread % KERNEL_ENCODE_COEFFICIENTS;
        shared.divisor[table][k] = (uint32_t)pass.quantiser[table][k] << ENCODE_SCALE;
        shared.inverse[table][k] = pass.inverse[table][k];
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

/* The places in zigzag order of a thread's coefficients, a byte each. */
static __device__ __forceinline__ void encode_places(const struct encode_transform_shared &shared,
                                                     uint32_t *places) {
    uint32_t lane = encode_thread() % ENCODE_LANES;
    places[0] = places[1] = 0;
#pragma unroll
    for (uint32_t i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        places[i / 4] |= (uint32_t)shared.place[i * KERNEL_ENCODE_SIDE + lane] << 8 * (i % 4);
    }
}

/* Leaves a block's coefficients in zigzag order. All threads of the warp call it. */
static __device__ __forceinline__ void encode_transform_block(const struct encode_pass &pass,
                                                              struct encode_transform_shared &shared,
                                                              const struct encode_origin &origin,
                                                              const uint32_t *places) {
    uint32_t block = encode_thread() / ENCODE_LANES, lane = encode_thread() % ENCODE_LANES;
    const struct encode_component &component = pass.component[origin.component];
    int32_t value[KERNEL_ENCODE_SIDE];
    encode_load(component.grid, origin.x * KERNEL_ENCODE_SIDE, origin.y * KERNEL_ENCODE_SIDE + (int)lane,
                value);
    encode_transform_8<true>(value);
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        shared.work[block][lane * KERNEL_ENCODE_STRIDE + i] = value[i];
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        value[i] = shared.work[block][i * KERNEL_ENCODE_STRIDE + lane];
    }
    encode_transform_8<false>(value);
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_SIDE; i++) {
        uint32_t k = (uint32_t)i * KERNEL_ENCODE_SIDE + lane;
        int32_t result =
            encode_quantise(value[i], shared.divisor[component.table][k], shared.inverse[component.table][k]);
        uint32_t place = places[i / 4] >> 8 * (i % 4) & 0xff;
        shared.zigzag[block][place] = (int16_t)(origin.dummy && k > 0 ? 0 : result);
    }
    __syncwarp();
}

/* Each warp has a quad of each group, so no warp waits for another. */
static __device__ __forceinline__ void encode_transform_groups(const struct encode_pass &pass) {
    struct encode_transform_shared &shared = *(struct encode_transform_shared *)block_memory;
    uint32_t groups = (pass.count + KERNEL_ENCODE_GROUP - 1) / KERNEL_ENCODE_GROUP, places[2];
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
