/* SPDX-License-Identifier: MIT
 * Rows without explicit vector instructions, for other processors and for comparison in tests. */
#include "cpu/rows/rows.h"

#define VECTOR_BYTES 16
#include "cpu/rows/rows_filters.h"
#include "cpu/rows/rows_fixed.h"
#include "cpu/rows/rows_rank.h"
#include "cpu/rows/rows_resize.h"

void row_set_plain(struct row_set *set) {
    set->fixed = fixed_ops;
    set->floating = float_ops;
    set->filter = filter_rows;
    set->resize = resize_rows;
    set->rank = rank_rows;
}
