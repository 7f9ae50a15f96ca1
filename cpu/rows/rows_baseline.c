/* SPDX-License-Identifier: MIT
 * SSE2, which every x86-64 has; else plain C. */
#include "cpu/rows/rows.h"

#if defined(__SSE2__)
#include "cpu/rows/simd_sse2.h"
/* after it, whose types it uses */
#include "cpu/rows/rows_simd.h"
#endif

void row_set_baseline(struct row_set *set) {
    row_set_plain(set);
#if defined(__SSE2__)
    simd_replace(&set->fixed);
#endif
}
