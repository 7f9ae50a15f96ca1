/* SPDX-License-Identifier: MIT
 * Row margins that horizontal taps read. */
#ifndef BLURD_FILTERS_BLUR_CPU_BLUR_MARGIN_H
#define BLURD_FILTERS_BLUR_CPU_BLUR_MARGIN_H

#include <stdbool.h>

#include "filters/blur/cpu/blur_job.h"

/* Fills the rest of row y of `to` in every segment; the positions `have` are there. `raw`: positions are
 * those of the picture, so the edge mode applies; later all positions outside repeat the ends. Thread-safe
 * for different rows. */
void blur_margin_fill(const struct blur_job *job, const struct grid *to, ptrdiff_t y, struct span have,
                      bool raw);

#endif
