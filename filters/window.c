/* SPDX-License-Identifier: MIT */
#include "filters/window.h"

/* Pixels from `from` to `to` - 1 of an axis of the picture. */
struct stretch {
    uint64_t from, to;
};

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What a step reads to make those pixels, in whole cells of its grid. A step that wraps has all of the axis
 * if it reads beyond a border. */
static struct stretch read_for(struct stretch made, const struct filter_reach *reach, uint32_t size) {
    const struct stretch whole = {0, size};
    const bool leaves = made.from < reach->pixels || made.to + reach->pixels > size;
    uint64_t from = made.from > reach->pixels ? made.from - reach->pixels : 0;
    uint64_t to = made.to + reach->pixels + reach->grid - 1;
    to -= to % reach->grid;
    return leaves && reach->wraps ? whole
                                  : (struct stretch){from - from % reach->grid, to < size ? to : size};
}

/* The stretch begins where the grids of all steps have a line, and at a multiple of `unit`. It ends at a
 * multiple of that, too, or at the border, so that reduced samples at its ends stand for as many pixels. */
static struct stretch stretch_of(const struct chain *chain, struct stretch covered, uint32_t size,
                                 uint32_t unit) {
    struct stretch read = covered;
    uint64_t common = unit;
    for (uint32_t i = chain_masked(chain); i-- > 0;) {
        const struct filter *filter = filter_get(chain->step[i].filter);
        if (!filter->reach) {
            return (struct stretch){0, size};
        }
        const struct filter_reach reach = filter->reach(step_plan(&chain->step[i]));
        read = read_for(read, &reach, size);
        if (common <= size) { /* else only 0 is a multiple in the picture */
            common *= reach.grid / greatest_divisor(common, reach.grid);
        }
    }
    read.from -= read.from % common;
    read.to += unit - 1;
    read.to -= read.to % unit;
    return (struct stretch){read.from, read.to < size ? read.to : size};
}

struct crop_plan window_of(const struct chain *chain, const struct image_shape *shape,
                           const struct crop_plan *covered) {
    const struct stretch columns = {covered->x, (uint64_t)covered->x + covered->width};
    const struct stretch rows = {covered->y, (uint64_t)covered->y + covered->height};
    const uint32_t unit_x = (uint32_t)IMAGE_ALIGNMENT << shape->chroma_shift_x;
    const uint32_t unit_y = 1u << shape->chroma_shift_y;
    const struct stretch x = stretch_of(chain, columns, shape->width, unit_x);
    const struct stretch y = stretch_of(chain, rows, shape->height, unit_y);
    return (struct crop_plan){(uint32_t)x.from, (uint32_t)y.from, (uint32_t)(x.to - x.from),
                              (uint32_t)(y.to - y.from)};
}
