/* SPDX-License-Identifier: MIT */
enum { VECTOR_BYTES = 16 };
#include "cpu/rows_real.h"
#include "cpu/rows_whole.h"

void row_set_baseline(struct row_set *set) {
    set->whole = whole_ops;
    set->real = real_ops;
}
