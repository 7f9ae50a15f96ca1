/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("avx512vnni") /* in addition to the flags of the build; cpu/backend.c checks for it */
#endif
#include "cpu/rows/rows.h"

enum { VECTOR_BYTES = 64 };
#include "cpu/rows/rows_filters.h"
#include "cpu/rows/rows_fixed.h"
#include "cpu/rows/simd_avx512.h"
/* these need the types above */
#include "cpu/rows/rows_simd.h"
#include "cpu/rows/rows_simd_wide.h"

void row_set_avx512(struct row_set *set) {
    set->fixed = fixed_ops;
    set->floating = float_ops;
    set->filter = filter_rows;
    simd_replace(&set->fixed);
    set->fixed.enlarge = wide_enlarge;
}
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
