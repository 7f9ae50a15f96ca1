/* SPDX-License-Identifier: MIT */
#include "cpu/detect/detect_sink.h"

#include <stdlib.h>
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

static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    uint32_t place = (uint32_t)one->y << 16 | one->x, against = (uint32_t)other->y << 16 | other->x;
    return (place > against) - (place < against);
}

void detect_sink_finish(struct detect_sink *sink, void *target) {
    struct candidates *candidates = sink->candidates;
    candidates->count = sink->count;
    unsigned valid = candidates->count <= CANDIDATES_MAX ? candidates->count : 0;
    qsort(candidates->candidate, valid, sizeof candidates->candidate[0], compare);
    memset(candidates->candidate + valid, 0, (CANDIDATES_MAX - valid) * sizeof candidates->candidate[0]);
    memcpy(target, candidates, sizeof *candidates);
}
