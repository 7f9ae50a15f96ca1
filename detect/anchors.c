/* SPDX-License-Identifier: MIT */
#include "detect/anchors.h"

int anchors_first(const struct network *network, unsigned output) {
    int first = 0;
    for (unsigned i = 0; i < output; i++) {
        first += network->anchors[i];
    }
    return first;
}

static void add(struct candidates *candidates, struct candidate candidate, const uint8_t *place) {
    const uint32_t index = candidates->count++;
    if (index < CANDIDATES_MAX) {
        for (int i = ANCHOR_PLACE; i < ANCHOR_SUMS; i++) {
            candidate.sum[i] = *place++;
        }
        candidates->candidate[index] = candidate;
    }
}

void anchors_find(const struct network *network, unsigned output, const struct anchors_cells *cells,
                  int32_t least, struct candidates *candidates) {
    const int anchors = network->anchors[output], first = anchors_first(network, output);
    const int bytes = network_cell_bytes(network, output);
    for (uint32_t y = 0; y < cells->height; y++) {
        const uint8_t *cell = cells->data + y * cells->stride;
        for (uint32_t x = 0; x < cells->width; x++, cell += bytes) {
            const uint8_t *place = cell + bytes - 4 * anchors;
            for (int i = 0; i < anchors; i++, place += 4) {
                if (cell[i] >= least) {
                    const struct candidate found = {
                        .x = (uint16_t)x, .y = (uint16_t)y, .sum = {cell[i], first + i}};
                    add(candidates, found, place);
                }
            }
        }
    }
}
