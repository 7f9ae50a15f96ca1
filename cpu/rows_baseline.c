/* SPDX-License-Identifier: MIT */
#include "cpu/rows.h"

enum { VECTOR_BYTES = 16 };
#include "cpu/rows_real.h"
#include "cpu/rows_whole.h"
#if defined(__SSE2__)
#include "cpu/simd_sse2.h"
/* after it, whose types it uses */
#include "cpu/rows_simd.h"
#endif

void row_set_baseline(struct row_set *set) {
    set->whole = whole_ops;
    set->real = real_ops;
#if defined(__SSE2__)
    simd_replace(&set->whole);
#endif
}
