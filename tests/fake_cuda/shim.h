/* SPDX-License-Identifier: MIT
 * CUDA C++ for the host: enough of the language for our kernels. Included once per program that
 * runs kernels, before them. A block's threads are fibers of one thread; __syncthreads() and the
 * warp's own instructions switch between them. */
#ifndef BLURD_TESTS_FAKE_CUDA_SHIM_H
#define BLURD_TESTS_FAKE_CUDA_SHIM_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>

#define __device__
#define __global__
#define __shared__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__
#define __trap fibers_trap

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
struct alignas(16) float4 {
    float x, y, z, w;
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

/* A barrier of its own for some warps of the block, `members` threads in all. */
void block_barrier(unsigned number, unsigned members);

/* Every lane of the warp hands in up to 8 words and gets those of all. */
struct warp_words {
    uint32_t of[32][8];
};
const warp_words &warp_exchange(const uint32_t *words, unsigned count);
unsigned warp_lane();

/* A GPU faults where an address is no multiple of the size. */
template <class T> static inline T *aligned(T *at) {
    if ((uintptr_t)at % sizeof(T) != 0) {
        fprintf(stderr, "fake_cuda: %u bytes at an address that is no multiple of it\n", (unsigned)sizeof(T));
        abort();
    }
    return at;
}

/* Loads and stores that say how they use the caches. */
template <class T> static inline T __ldg(const T *from) {
    return *aligned(from);
}
static inline uint64_t stamp_clock() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

template <class T> static inline T __ldcg(const T *from) {
    return *aligned(from);
}
template <class T> static inline void __stcg(T *to, T value) {
    *aligned(to) = value;
}

static inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    }
    return result;
}

static inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

static inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift) {
    return (uint32_t)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
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
static inline float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}

static inline float __saturatef(float value) {
    return value > 1 ? 1 : value > 0 ? value : 0;
}

/* Rounded down, for sums that a double holds. */
static inline float __fadd_rd(float a, float b) {
    float sum = a + b;
    return sum > (double)a + b ? std::nextafter(sum, -INFINITY) : sum;
}

static inline long long __double_as_longlong(double value) {
    long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double __longlong_as_double(long long bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t __float_as_uint(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float __uint_as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline float __int_as_float(int32_t bits) {
    return __uint_as_float((uint32_t)bits);
}
static inline int32_t __float_as_int(float value) {
    return (int32_t)__float_as_uint(value);
}

/* The threads of all blocks run one after the other, and launches of several streams, too. */
template <class T> static inline T atomicAdd(T *to, T value) {
    T before = *to;
    *to = before + value;
    return before;
}
template <class T> static inline T atomicExch(T *to, T value) {
    T before = *to;
    *to = value;
    return before;
}
template <class T> static inline T atomicMin(T *to, T value) {
    T before = *to;
    *to = before < value ? before : value;
    return before;
}
template <class T> static inline T atomicMax(T *to, T value) {
    T before = *to;
    *to = before > value ? before : value;
    return before;
}

template <class T> static inline T atomicOr(T *to, T value) {
    T before = *to;
    *to = before | value;
    return before;
}

static inline int __popc(uint32_t value) {
    return __builtin_popcount(value);
}
static inline int __popcll(unsigned long long value) {
    return __builtin_popcountll(value);
}
static inline int __ffs(int value) {
    return __builtin_ffs(value);
}
static inline int __clz(int value) {
    return value ? __builtin_clz((unsigned)value) : 32;
}
static inline int __clzll(long long value) {
    return value ? __builtin_clzll((unsigned long long)value) : 64;
}

static inline void __threadfence() {
}
static inline void __threadfence_block() {
}
static inline void __threadfence_system() {
}

/* Lets the other warps of the block run until they wait, too. All threads of a warp sleep at the same time.
 */
void __nanosleep(unsigned ns);

static inline uint32_t __shfl_sync(uint32_t, uint32_t value, int lane) {
    return warp_exchange(&value, 1).of[lane & 31][0];
}

static inline uint32_t __ballot_sync(uint32_t, int predicate) {
    const uint32_t word = predicate != 0;
    const warp_words &all = warp_exchange(&word, 1);
    uint32_t set = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        set |= all.of[lane][0] << lane;
    }
    return set;
}

static inline void __syncwarp() {
    uint32_t none = 0;
    warp_exchange(&none, 1);
}

/* Bytes that four lanes of the warp hold, `Words` words each. They are widened, so that the compiler
 * multiplies eight pairs of them with one instruction. */
template <class Byte, unsigned Words> struct matrix_bytes { int16_t of[16 * Words]; };

/* Collects words first, first + step and so on from the lanes of a group. */
template <class Byte, unsigned Words>
static inline matrix_bytes<Byte, Words> matrix_collect(const warp_words &all, unsigned group, unsigned first,
                                                       unsigned step) {
    Byte bytes[16 * Words];
    for (unsigned lane = 0; lane < 4; lane++) {
        for (unsigned i = 0; i < Words; i++) {
            memcpy(bytes + 4 * (lane * Words + i), &all.of[4 * group + lane][first + i * step], 4);
        }
    }
    matrix_bytes<Byte, Words> wide;
    for (unsigned i = 0; i < 16 * Words; i++) {
        wide.of[i] = bytes[i];
    }
    return wide;
}

template <class Row, class Column, unsigned Words>
static inline int32_t matrix_product(const matrix_bytes<Row, Words> &row,
                                     const matrix_bytes<Column, Words> &column) {
    int32_t sum = 0;
    for (unsigned i = 0; i < 16 * Words; i++) {
        sum += row.of[i] * column.of[i];
    }
    return sum;
}

/* The matrix instructions of gpu/stream/matrix.cuh and gpu/detect/matrix.cuh. */
template <class Row, class Column, unsigned Words>
static inline void matrix_multiply_bytes(int32_t *sum, const int32_t *from, uint4 rows, uint2 columns) {
    const uint32_t words[] = {rows.x, rows.y, rows.z, rows.w, columns.x, columns.y};
    const warp_words &all = warp_exchange(words, 6);
    unsigned row = warp_lane() / 4, quad = warp_lane() % 4;
    matrix_bytes<Column, Words> of_column[2];
    for (unsigned i = 0; i < 2; i++) {
        of_column[i] = matrix_collect<Column, Words>(all, 2 * quad + i, 4, 1);
    }
    for (unsigned lower = 0; lower < 2; lower++) {
        const matrix_bytes<Row, Words> of_row = matrix_collect<Row, Words>(all, row, lower, 2);
        for (unsigned i = 0; i < 2; i++) {
            sum[2 * lower + i] = from[2 * lower + i] + matrix_product(of_row, of_column[i]);
        }
    }
}

static inline void matrix_multiply(int32_t *sum, const int32_t *from, uint4 rows, uint2 columns) {
    matrix_multiply_bytes<uint8_t, uint8_t, 2>(sum, from, rows, columns);
}

static inline void matrix_multiply_half(int32_t *sum, const int32_t *from, uint2 rows, uint32_t columns) {
    matrix_multiply_bytes<uint8_t, uint8_t, 1>(sum, from, {rows.x, rows.y, 0, 0}, {columns, 0});
}

static inline uint4 matrix_load(const void *row) {
    const uint64_t address = (uint64_t)(uintptr_t)row;
    const uint32_t words[] = {(uint32_t)address, (uint32_t)(address >> 32)};
    const warp_words &all = warp_exchange(words, 2);
    uint32_t loaded[4];
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t *of = all.of[8 * i + warp_lane() / 4];
        loaded[i] = ((const uint32_t *)(uintptr_t)((uint64_t)of[1] << 32 | of[0]))[warp_lane() % 4];
    }
    return {loaded[0], loaded[1], loaded[2], loaded[3]};
}

/* Shared memory by offsets and the shifts of gpu/jpeg/progressive/progressive_bits.cuh. */
extern uint4 block_memory[];
enum { SHARED_SIZE = 48 * 1024 };

template <class T> static inline T *shared_at(uint32_t offset) {
    if (offset > SHARED_SIZE - sizeof(T)) {
        fprintf(stderr, "fake_cuda: offset %u is behind the shared memory\n", offset);
        abort();
    }
    return aligned((T *)((char *)block_memory + offset));
}

static inline uint32_t shared_address(const void *shared) {
    return (uint32_t)((const char *)shared - (const char *)block_memory);
}
static inline uint2 shared_load_pair(uint32_t from) {
    return *shared_at<uint2>(from);
}
static inline uint32_t shared_load(uint32_t from) {
    return *shared_at<uint32_t>(from);
}
static inline uint32_t shared_load_byte(uint32_t from) {
    return *shared_at<uint8_t>(from);
}
static inline void shared_store_pair(uint32_t to, uint2 value) {
    *shared_at<uint2>(to) = value;
}
static inline void shared_store(uint32_t to, uint32_t value) {
    *shared_at<uint32_t>(to) = value;
}
static inline void shared_store_if(bool condition, uint32_t to, uint32_t value) {
    if (condition) {
        shared_store(to, value);
    }
}
static inline void shared_store_short_if(bool condition, uint32_t to, uint32_t value) {
    if (condition) {
        *shared_at<uint16_t>(to) = (uint16_t)value;
    }
}
static inline void shared_or(uint32_t to, uint32_t bits) {
    *shared_at<uint32_t>(to) |= bits;
}

static inline uint32_t shift_right(uint32_t value, uint32_t count) {
    return count > 31 ? 0 : value >> count;
}
static inline uint32_t shift_left(uint32_t value, uint32_t count) {
    return count > 31 ? 0 : value << count;
}

static inline void store_value(uint8_t *to, int32_t value) {
    *aligned((int16_t *)to) = (int16_t)value;
}
template <class T> static inline void compute_now(T &) {
}

static inline void face_pixels_by_weights(int32_t *sum, const int32_t *from, uint4 rows, uint2 columns) {
    matrix_multiply_bytes<uint8_t, int8_t, 2>(sum, from, rows, columns);
}

static inline void face_weights_by_pixels(int32_t *sum, const int32_t *from, uint4 rows, uint2 columns) {
    matrix_multiply_bytes<int8_t, uint8_t, 2>(sum, from, rows, columns);
}

static inline void face_wait(int group, int threads) {
    block_barrier((unsigned)group + 1, (unsigned)threads);
}

static inline void face_touch(const void *word, void *dummy) {
    memcpy(dummy, word, sizeof(uint32_t));
}

static inline void face_touched() {
}

static inline void face_keep(uint32_t &) {
}

static inline uint32_t face_pick(uint32_t word, uint32_t selector) {
    return __byte_perm(word, 0, selector);
}

static inline uint32_t face_saturate(int32_t a, int32_t b, int32_t c, int32_t d) {
    const int32_t values[] = {a, b, c, d};
    uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; i++) {
        bytes |= (uint32_t)min(max(values[i], 0), 255) << 8 * i;
    }
    return bytes;
}

#endif
