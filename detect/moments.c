/* SPDX-License-Identifier: MIT */
#include "detect/moments.h"

void moments_add_run(struct moments *moments, uint32_t from, uint32_t to, uint32_t y) {
    const uint64_t count = to - from, first = from, row = y;
    const uint64_t ramp = count * (count - 1) / 2; /* 0 + 1 + ... */
    const uint64_t squares = ramp * (2 * count - 1) / 3;
    const uint64_t x = count * first + ramp;
    moments->x += x;
    moments->y += count * row;
    moments->xx += (count * first + 2 * ramp) * first + squares;
    moments->xy += x * row;
    moments->yy += count * row * row;
}

void moments_add(struct moments *moments, const struct moments *other) {
    moments->x += other->x;
    moments->y += other->y;
    moments->xx += other->xx;
    moments->xy += other->xy;
    moments->yy += other->yy;
}

/* Moves the origin near the middle, exactly, so that nothing is lost when squares are subtracted. Products
 * may wrap around; their differences are right, since these fit. */
struct moments_spread moments_spread(const struct moments *moments, uint32_t pixels) {
    const uint64_t x = moments->x / pixels, y = moments->y / pixels; /* whole part of the middle */
    const double count = pixels;
    const double xx = (double)(moments->xx - 2 * x * moments->x + pixels * x * x) / count,
                 yy = (double)(moments->yy - 2 * y * moments->y + pixels * y * y) / count,
                 xy = (double)(int64_t)(moments->xy - x * moments->y - y * moments->x + pixels * x * y) /
                      count;
    const double left = (double)(moments->x % pixels) / count, top = (double)(moments->y % pixels) / count;
    return (struct moments_spread){.x = (double)x + left + 0.5,
                                   .y = (double)y + top + 0.5,
                                   .xx = xx - left * left + 1.0 / 12,
                                   .xy = xy - left * top,
                                   .yy = yy - top * top + 1.0 / 12};
}
