/* SPDX-License-Identifier: MIT */
#include "core/processor.h"
#if PROCESSOR_TILES
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512vnni,amx-tile,amx-int8") /* core/processor.c checks for them */
#endif
#include "cpu/detect/detect_kernels.h"
#include "cpu/detect/simd/amx.h"

#include "cpu/detect/simd/avx512.h"
/* this needs the vectors above */
#include "cpu/detect/simd/tiles.h"

void detect_dense_amx(const struct detect_dense *job) {
    tiles_dense(job);
}

void detect_sums_amx(const struct detect_dense *job) {
    tiles_sums(job);
}
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
