/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)
#define VECTOR_BYTES 16
#define SIMD_HEADER "cpu/rows/simd_neon.h"
#define ROW_SET row_set_neon
#include "cpu/rows/rows_vector.h"
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
