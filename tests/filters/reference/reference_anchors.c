/* SPDX-License-Identifier: MIT */
#include "tests/filters/reference/reference_anchors.h"

#include <stdlib.h>

void reference_anchors(int32_t *const cells[2], uint32_t width, uint32_t height, int32_t least,
                       struct candidates *expected) {
    static const unsigned sides[] = {16, 32}, anchors[] = {3, 6}, places[] = {4, 8};
    for (unsigned output = 0; output < 2; output++) {
        const unsigned columns = width / sides[output], each = anchors[output];
        const int32_t *cell = cells[output];
        for (unsigned i = 0; i < columns * (height / sides[output]); i++, cell += places[output] + 4 * each) {
            for (unsigned k = 0; k < each; k++) {
                const int32_t *place = cell + places[output] + 4 * k;
                if (expected->count == CANDIDATES_MAX) {
                    abort();
                }
                expected->candidate[expected->count] = (struct candidate){
                    .x = (uint16_t)(i % columns),
                    .y = (uint16_t)(i / columns),
                    .sum = {cell[k], (int)(3 * output + k), place[0], place[1], place[2], place[3]}};
                expected->count += cell[k] >= least;
            }
        }
    }
    candidates_sort(expected);
}
