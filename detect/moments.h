/* SPDX-License-Identifier: MIT
 * How pixels are spread: sums of their coordinates, and of products of two, as whole numbers. They do not
 * depend on the order, so backends have the same, and those of separate sets add up.
 *
 * The coordinates are those of the map, from its upper left pixel. None needs another origin: a map's sides
 * are below 2^16, so a sum of all its squares, width^3 / 3 * height, is below 2^63. */
#ifndef BLURD_DETECT_MOMENTS_H
#define BLURD_DETECT_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t x, y, xx, xy, yy;
};

/* Adds the pixels of row y from `from` to before `to`. */
void moments_add_run(struct moments *moments, uint32_t from, uint32_t to, uint32_t y);

/* Wraps around where the sums are made up. */
void moments_add(struct moments *moments, const struct moments *other);

/* Of pixels as squares of side 1, whose edges are whole numbers: where their middle is, and the variances and
 * the covariance of all their points. A rectangle has side^2 / 12 along each side, however it is turned. */
struct moments_spread {
    double x, y, xx, xy, yy;
};

/* `pixels` is how many were added, at least 1. Any sums give finite numbers; only those of pixels give
 * sensible ones. */
struct moments_spread moments_spread(const struct moments *moments, uint32_t pixels);

#endif
