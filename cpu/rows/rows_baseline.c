/* SPDX-License-Identifier: MIT
 * SSE2, which every x86-64 has, or plain C. */
#include "cpu/rows/rows.h"

#if defined(__SSE2__)
#include "cpu/rows/simd_sse2.h"
/* this needs the types above */
#include "cpu/rows/rows_simd.h"
#endif

void row_set_baseline(struct row_set *set) {
    row_set_plain(set);
#if defined(__SSE2__)
    simd_replace(&set->fixed);
#endif
}
