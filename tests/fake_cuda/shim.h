/* SPDX-License-Identifier: MIT
 * CUDA C++ for the host: enough of the language for gpu/blur.cu. Included once per program that
 * runs kernels, before them. A block's threads are fibers of one thread; __syncthreads() and the
 * warp's own instructions switch between them. */
#ifndef BLURD_TESTS_FAKE_CUDA_SHIM_H
#define BLURD_TESTS_FAKE_CUDA_SHIM_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define __device__
#define __global__
#define __shared__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__

using std::abs;
using std::max;
using std::min;

struct uint2 {
    uint32_t x, y;
};
struct uint3 {
    uint32_t x, y, z;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
static inline uint2 make_uint2(uint32_t x, uint32_t y) {
    return {x, y};
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    return {x, y, z, w};
}

/* Those of the fiber that runs. */
extern uint3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();

/* Every lane of the warp hands in up to 8 words and gets those of all. */
struct warp_words {
    uint32_t of[32][8];
};
const warp_words &warp_exchange(const uint32_t *words, unsigned count);
unsigned warp_lane();

static inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    }
    return result;
}

static inline uint32_t __dp2a_lo(uint32_t a, uint32_t b, uint32_t c) {
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}

static inline uint32_t __dp2a_hi(uint32_t a, uint32_t b, uint32_t c) {
    return __dp2a_lo(a, b >> 16, c);
}

static inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

static inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 32; i += 8) {
        c += (a >> i & 0xff) * (b >> i & 0xff);
    }
    return c;
}

template <class T> static inline T __ldg(const T *at) {
    return *at;
}

static inline float __fmul_rn(float a, float b) {
    return a * b;
}
static inline float __fadd_rn(float a, float b) {
    return a + b;
}
static inline float __fdiv_rn(float a, float b) {
    return a / b;
}

static inline uint32_t __shfl_sync(uint32_t, uint32_t value, int lane) {
    return warp_exchange(&value, 1).of[lane & 31][0];
}

/* The warp's matrix product of 16 rows of 32 bytes with 32 rows of 8 bytes, as PTX has it: lane l gives
 * rows l / 4 and 8 more, bytes 4 * (l % 4) and on of each half, and column l / 4; it gets rows
 * l / 4 and 8 more, columns 2 * (l % 4) and the next. */
static inline void shim_multiply(uint32_t (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    const uint32_t words[6] = {a[0], a[1], a[2], a[3], b0, b1};
    const warp_words &all = warp_exchange(words, 6);
    unsigned lane = warp_lane();
    for (unsigned i = 0; i < 4; i++) {
        unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 32; k++) {
            uint32_t left = all.of[row % 8 * 4 + k % 16 / 4][row / 8 + k / 16 * 2] >> 8 * (k % 4) & 0xff;
            uint32_t right = all.of[column * 4 + k % 16 / 4][4 + k / 16] >> 8 * (k % 4) & 0xff;
            sum[i] += left * right;
        }
    }
}

#ifndef SHIM_WITHOUT_MATRICES /* then kernels do without, as on GPUs that have none */
#define BLURD_SHIM
#endif

#endif
