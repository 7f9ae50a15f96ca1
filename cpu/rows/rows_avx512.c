/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512vnni") /* in addition to the flags of the build; core/processor.c checks for it */
#endif
#define VECTOR_BYTES 64
#define SIMD_HEADER "cpu/rows/simd_avx512.h"
#define ROW_SET row_set_avx512
#include "cpu/rows/rows_vector.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
