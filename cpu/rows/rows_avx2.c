/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#define VECTOR_BYTES 32
#define SIMD_HEADER "cpu/rows/simd_avx2.h"
#define ROW_SET row_set_avx2
#include "cpu/rows/rows_vector.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
