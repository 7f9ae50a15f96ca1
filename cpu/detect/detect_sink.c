/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_sink.h"

#include <string.h>

#include "cpu/detect/detect_kernels.h"

void detect_sink_row(struct detect_sink *sink, uint32_t y, uint32_t x, const int32_t *sums, size_t cells) {
    for (size_t i = 0; i < cells; i++) {
        const int32_t *cell = sums + i * DETECT_SUMS;
        unsigned place = cell[0] >= sink->least ? atomic_fetch_add(&sink->count, 1) : CANDIDATES_MAX;
        if (place < CANDIDATES_MAX) {
            struct candidate *candidate = &sink->candidates->candidate[place];
            candidate->x = (uint16_t)(x + i);
            candidate->y = (uint16_t)y;
            memcpy(candidate->sum, cell, sizeof candidate->sum);
        }
    }
}

void detect_sink_finish(struct detect_sink *sink, void *target) {
    struct candidates *candidates = sink->candidates;
    candidates->count = sink->count;
    candidates_sort(candidates);
    memcpy(target, candidates, sizeof *candidates);
}
