/* SPDX-License-Identifier: MIT
 * The rows of a blur's passes. Thread-safe for different seats. */
#ifndef BLURD_FILTERS_BLUR_CPU_BLUR_ROWS_H
#define BLURD_FILTERS_BLUR_CPU_BLUR_ROWS_H

#include "filters/blur/cpu/blur_job.h"

/* Makes rows of stage i's result, `from` to `to` - 1, counted from its first. */
void blur_rows_reduce(struct blur_lines *lines, unsigned i, uint32_t from, uint32_t to);

/* Makes the result from low-resolution row `from` to `to` - 1; from the same rows of the picture without
 * reduction. Neighbouring bands make three of the low-resolution rows, too. */
void blur_rows_last(struct blur_lines *lines, uint32_t from, uint32_t to);

#endif
