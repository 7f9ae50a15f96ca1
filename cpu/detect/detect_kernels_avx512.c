/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512vnni") /* in addition to the flags of the build; core/processor.c checks for it */
#endif
#include "core/processor.h"
#include "cpu/detect/detect_registers.h"

#include "cpu/detect/simd/avx512.h"
/* this needs the vectors above */
#include "cpu/detect/detect_bytes.h"
#include "cpu/detect/detect_half.h"
#include "cpu/detect/detect_picture.h"

struct depth_columns {
    const int8_t *weights; /* of all columns */
    const int32_t *bias;
    const float *scale;
    size_t first; /* channel */
    bool plain, relu;
    float offset;
};

#define FLOATS_512 __m512
#define FLOATS_256 __m256
#define FLOATS_128 __m128
#define FLOATS(width) FLOATS_(width)
#define FLOATS_(width) FLOATS_##width

#define WIDTH 512
#define PREFIX _mm512_
#define NAME depth_512
#include "cpu/detect/detect_depth_wide.h"
#define WIDTH 256
#define PREFIX _mm256_
#define NAME depth_256
#include "cpu/detect/detect_depth_wide.h"
#define WIDTH 128
#define PREFIX _mm_
#define NAME depth_128
#include "cpu/detect/detect_depth_wide.h"

/* A depthwise layer has no addend. */
static void depth(const struct detect_depth *job) {
    const struct detect_packed *layer = job->layer;
    struct depth_columns chunk = {layer->weights, layer->bias, layer->scale, 0,
                                  layer->plain,   layer->relu, layer->offset};
    const bool small = layer->size == 3;
    const size_t taps = layer->size * ((layer->size + 3) / 4 * 4);
    while (chunk.first < layer->outputs) {
        size_t left = layer->outputs - chunk.first;
        size_t channels = left >= 64 ? 64 : left >= 32 ? 32 : 16;
        (channels == 64   ? small ? depth_512 : depth_512_large
         : channels == 32 ? small ? depth_256 : depth_256_large
         : small          ? depth_128
                          : depth_128_large)(job, &chunk);
        chunk.weights += taps * channels;
        chunk.bias += channels;
        chunk.scale += channels;
        chunk.first += channels;
    }
}

/* With VBMI, which comes with VBMI2. */
static __attribute__((target("avx512vbmi"))) void table_vbmi(const uint8_t entries[NETWORK_TABLE_SIZE],
                                                             uint8_t *bytes, size_t count) {
    __m512i part[4];
    for (unsigned i = 0; i < 4; i++) {
        part[i] = _mm512_loadu_si512(entries + (size_t)64 * i);
    }
    for (size_t i = 0; i < count; i += 64) {
        const __mmask64 mask = count - i < 64 ? (UINT64_C(1) << (count - i)) - 1 : UINT64_MAX;
        const __m512i index = _mm512_maskz_loadu_epi8(mask, bytes + i);
        const __m512i low = _mm512_permutex2var_epi8(part[0], index, part[1]);
        const __m512i high = _mm512_permutex2var_epi8(part[2], index, part[3]);
        _mm512_mask_storeu_epi8(bytes + i, mask, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high));
    }
}

const struct detect_kernels *detect_kernels_avx512(void) {
#define AVX512(table)                                                                                        \
    {                                                                                                        \
        {.lanes = LANES, .unit = UNIT, .halves = true, .chunk = CHUNK}, half_dense, sums, depth, excite,     \
            table, pool, squeeze, picture                                                                    \
    }
    static const struct detect_kernels kernels = AVX512(table), with_vbmi = AVX512(table_vbmi);
#undef AVX512
    return processor_allows(PROCESSOR_AVX512_VBMI2) ? &with_vbmi : &kernels;
}

#if PROCESSOR_TILES
const struct detect_kernels *detect_kernels_amx(void) {
    static const struct detect_kernels kernels = {
        {.lanes = LANES, .unit = UNIT, .tiles = true, .chunk = CHUNK},
        detect_dense_amx,
        detect_sums_amx,
        depth,
        excite,
        table_vbmi,
        pool,
        squeeze,
        picture};
    return &kernels;
}
#endif
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
