/* SPDX-License-Identifier: MIT
 * Collects the cells with a high enough first sum, from several threads. */
#ifndef BLURD_CPU_DETECT_DETECT_SINK_H
#define BLURD_CPU_DETECT_DETECT_SINK_H

#include <stdatomic.h>
#include <stddef.h>

#include "detect/candidates.h"

struct detect_sink {
    struct candidates *candidates; /* in memory that no other process changes */
    int32_t least;                 /* first sum */
    atomic_uint count;
};

/* Takes the cells of a row from column x on, each with DETECT_SUMS sums (cpu/detect/detect_kernels.h). */
void detect_sink_row(struct detect_sink *sink, uint32_t y, uint32_t x, const int32_t *sums, size_t cells);

/* Completes the candidates once all rows are there, and copies them to the target. */
void detect_sink_finish(struct detect_sink *sink, void *target);

#endif
