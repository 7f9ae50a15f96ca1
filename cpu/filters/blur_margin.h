/* SPDX-License-Identifier: MIT
 * What horizontal taps read left and right of a row. */
#ifndef BLURD_CPU_FILTERS_BLUR_MARGIN_H
#define BLURD_CPU_FILTERS_BLUR_MARGIN_H

#include <stdbool.h>

#include "cpu/filters/blur_job.h"

/* Fills what is missing in row y of `to`, of which the positions `have` are there, in every segment. `raw`:
 * the positions are still those of the picture, so that the edge mode holds; later all that lies outside
 * repeats the ends. Thread-safe for different rows. */
void blur_margin_fill(const struct blur_job *job, const struct grid *to, ptrdiff_t y, struct span have,
                      bool raw);

#endif
