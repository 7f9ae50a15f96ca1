/* SPDX-License-Identifier: MIT */
#include "detect/candidates.h"

#include <string.h>

#include "detect/sort.h"

static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    const uint32_t place = (uint32_t)one->y << 16 | one->x, against = (uint32_t)other->y << 16 | other->x;
    return place != against ? (place > against) - (place < against)
                            : memcmp(one->sum, other->sum, sizeof one->sum);
}

void candidates_sort(struct candidates *candidates) {
    const uint32_t valid = candidates->count <= CANDIDATES_MAX ? candidates->count : 0;
    sort_items(candidates->candidate, valid, sizeof candidates->candidate[0], compare);
    memset(candidates->candidate + valid, 0, (CANDIDATES_MAX - valid) * sizeof candidates->candidate[0]);
}
