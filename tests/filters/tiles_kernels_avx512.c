/* SPDX-License-Identifier: MIT */
#include "tests/filters/tiles_kernels.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512vnni")
#endif
#include "tests/filters/tiles_emulated.h"

#include "cpu/detect/simd/avx512.h"
/* this needs the vectors above */
#include "cpu/detect/simd/tiles.h"

const struct detect_kernels *tiles_kernels_avx512(void) {
    static struct detect_kernels kernels;
    kernels = *detect_kernels_avx512();
    kernels.format = (struct detect_format){.lanes = LANES, .unit = UNIT, .tiles = true, .chunk = CHUNK};
    kernels.dense = tiles_dense;
    kernels.sums = tiles_sums;
    return &kernels;
}
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
