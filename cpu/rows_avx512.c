/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
enum { VECTOR_BYTES = 64 };
#include "cpu/rows_real.h"
#include "cpu/rows_whole.h"

void row_set_avx512(struct row_set *set) {
    set->whole = whole_ops;
    set->real = real_ops;
}
#endif
