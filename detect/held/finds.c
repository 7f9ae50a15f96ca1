/* SPDX-License-Identifier: MIT */
#include "detect/held/finds.h"

#include <string.h>

#include "core/numbers.h"

/* Rounded down, or up. What is cut lies far off any picture. */
static int32_t scaled(int32_t edge, uint32_t to, uint32_t from, bool up) {
    const int64_t product = (int64_t)edge * to + (up ? (int64_t)from - 1 : 0);
    const int64_t edge_scaled = product / from - (product % from < 0);
    return (int32_t)min_i64(max_i64(edge_scaled, -TRACKS_SIDE_MAX), TRACKS_SIDE_MAX);
}

void finds_scale(const struct finds *finds, uint32_t width, uint32_t height, struct track_box *box) {
    if (finds->count > 0) {
        memcpy(box, finds->box, finds->count * sizeof *box);
    }
    const bool same = finds->width == width && finds->height == height;
    for (uint32_t i = 0; i < finds->count && !same; i++) {
        box[i].left = scaled(box[i].left, width, finds->width, false);
        box[i].right = scaled(box[i].right, width, finds->width, true);
        box[i].top = scaled(box[i].top, height, finds->height, false);
        box[i].bottom = scaled(box[i].bottom, height, finds->height, true);
        box[i].round = false; /* rounded edges do not keep an ellipse within another */
    }
}
