/* SPDX-License-Identifier: MIT */
#if defined(__aarch64__)
#include "cpu/rows/rows.h"

enum { VECTOR_BYTES = 16 };
#include "cpu/rows/rows_filters.h"
#include "cpu/rows/rows_fixed.h"
#include "cpu/rows/simd_neon.h"
/* these need the types above */
#include "cpu/rows/rows_simd.h"
#include "cpu/rows/rows_simd_wide.h"

void row_set_neon(struct row_set *set) {
    set->fixed = fixed_ops;
    set->floating = float_ops;
    set->filter = filter_rows;
    simd_replace(&set->fixed);
    set->fixed.enlarge = wide_enlarge;
}
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
