/* SPDX-License-Identifier: MIT */
#include "gpu/filters/blur/blur_wide.h"

bool wide_possible(const struct blur_axis *x, const struct blur_axis *y) {
    return x->radius <= KERNEL_WIDE_RADIUS && y->radius <= KERNEL_WIDE_RADIUS;
}

static unsigned padded(const struct blur_axis *axis, int k) {
    k = k < 0 ? -k : k;
    return k <= axis->radius ? (unsigned)axis->weight[k] : 0;
}

void wide_fill_taps(struct wide_plane *plane, const struct blur_axis *x, const struct blur_axis *y,
                    unsigned bits) {
    unsigned larger = x->radius > y->radius ? x->radius : y->radius;
    int radius = larger <= 8 ? 8 : larger <= 12 ? 12 : KERNEL_WIDE_RADIUS;
    plane->radius = radius;
    for (int k = 0; k <= 2 * radius + 1; k++) {
        unsigned first = k > 0 ? padded(y, k - 1 - radius) : 0;
        unsigned second = k <= 2 * radius ? padded(y, k - radius) : 0;
        plane->pair_y[k] = first | second << 16;
    }
    for (int k = 0; k <= radius; k++) {
        plane->weight_y[k] = padded(y, k) << 1;
        plane->weight_x[k] = padded(x, k) << bits;
    }
}
