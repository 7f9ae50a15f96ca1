/* SPDX-License-Identifier: MIT
 * The row primitives of a wide instruction set. Included once per instruction set, where VECTOR_BYTES,
 * SIMD_HEADER and ROW_SET (the function to define) are set. */
#include "cpu/rows/rows.h"

#include "cpu/rows/rows_filters.h"
#include "cpu/rows/rows_fixed.h"
#include "cpu/rows/rows_rank.h"
#include "cpu/rows/rows_resize.h"
#include SIMD_HEADER
/* these need the types of SIMD_HEADER */
#include "cpu/rows/rows_simd.h"
#include "cpu/rows/rows_simd_wide.h"
#if VECTOR_BYTES == 64
#include "cpu/rows/rows_bytes.h"
#endif

void ROW_SET(struct row_set *set) {
    set->fixed = fixed_ops;
    set->floating = float_ops;
    set->filter = filter_rows;
    set->resize = resize_rows;
    set->rank = rank_rows;
    simd_replace(&set->fixed);
    set->fixed.enlarge = wide_enlarge;
#if VECTOR_BYTES == 64
    set->fixed.taps_group_source = bytes_taps_group;
#endif
}
