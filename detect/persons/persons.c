/* SPDX-License-Identifier: MIT */
#include "detect/persons/persons.h"

#include <math.h>

#include "detect/anchors.h"
#include "detect/sort.h"

/* From this overlap on, two boxes are of the same person. */
static const double overlap_limit = 0.6;

/* A step of a byte of a place (detect/convert.py, PLACE_SCALE), and what the network multiplies places with.
 */
static const double place_step = 0.1, middle_scale = 10, side_scale = 5;

/* From the upper left corner of a cell of the network's picture to the middle of its anchors. The windows of
 * the graph begin elsewhere than those of detect/network.h, by 5.5 pixels on average
 * (docs/adr/0076-a-network-for-persons.md). */
static const double anchor_shift = -5;

/* The order of a place. */
enum { PLACE_Y, PLACE_X, PLACE_HEIGHT, PLACE_WIDTH };

/* Sides of the anchors in pixels of the network's picture: the root of an area, and the root of width over
 * height. The network was trained with pictures of 300x300, and anchors that are parts of it. */
static const struct {
    double side, stretch;
} anchors[PERSON_ANCHORS] = {
    {30, 1},
    {60, 1.4142135623730951},
    {60, 0.7071067811865476},
    {105, 1},
    {105, 1.4142135623730951},
    {105, 0.7071067811865476},
    {105, 1.7320508075688772},
    {105, 0.5773214009544424},
    {125.49900398011133, 1},
};

int32_t persons_least(const struct model_weights *weights, double threshold) {
    (void)weights;
    return network_byte(threshold);
}

/* By falling score, then by anchor, row and column. */
static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    if (one->sum[ANCHOR_SCORE] != other->sum[ANCHOR_SCORE]) {
        return one->sum[ANCHOR_SCORE] > other->sum[ANCHOR_SCORE] ? -1 : 1;
    }
    if (one->sum[ANCHOR_NUMBER] != other->sum[ANCHOR_NUMBER]) {
        return one->sum[ANCHOR_NUMBER] < other->sum[ANCHOR_NUMBER] ? -1 : 1;
    }
    return one->y != other->y ? one->y - other->y : one->x - other->x;
}

static bool is_anchor(const struct candidate *from) {
    bool bytes = from->sum[ANCHOR_NUMBER] >= 0 && from->sum[ANCHOR_NUMBER] < PERSON_ANCHORS;
    for (int i = 0; i < ANCHOR_SUMS; i++) {
        bytes = bytes && from->sum[i] >= 0 && from->sum[i] <= UINT8_MAX;
    }
    return bytes;
}

static double place(const struct candidate *from, int index) {
    return (from->sum[ANCHOR_PLACE + index] - NETWORK_LINEAR_ZERO) * place_step;
}

/* Along an axis: the middle and the size in the picture. */
struct person_extent {
    double middle, size;
};

static struct person_extent extent_of(const struct candidate *from, unsigned cell, double anchor, int middle,
                                      int size, double factor) {
    const int side = from->sum[ANCHOR_NUMBER] < PERSON_FEW_ANCHORS ? PERSON_CELL : 2 * PERSON_CELL;
    const double at = cell * (double)side + anchor_shift + place(from, middle) / middle_scale * anchor;
    return (struct person_extent){at * factor, exp(place(from, size) / side_scale) * anchor * factor};
}

/* False: its middle is outside of the picture. */
static bool decode(const struct candidate *from, const struct boxes_frame *frame, struct box *person) {
    const double side = anchors[from->sum[ANCHOR_NUMBER]].side,
                 stretch = anchors[from->sum[ANCHOR_NUMBER]].stretch;
    const struct person_extent x = extent_of(from, from->x, side * stretch, PLACE_X, PLACE_WIDTH,
                                             (double)frame->width / frame->searched_width),
                               y = extent_of(from, from->y, side / stretch, PLACE_Y, PLACE_HEIGHT,
                                             (double)frame->height / frame->searched_height);
    const double left = fmax(x.middle - x.size / 2, 0), top = fmax(y.middle - y.size / 2, 0);
    *person = (struct box){.x = left,
                           .y = top,
                           .width = fmin(x.middle + x.size / 2, frame->width) - left,
                           .height = fmin(y.middle + y.size / 2, frame->height) - top,
                           .score = network_probability(from->sum[ANCHOR_SCORE])};
    return x.middle >= 0 && y.middle >= 0 && x.middle < frame->width && y.middle < frame->height;
}

static bool is_found(const struct boxes *persons, const struct box *person) {
    for (unsigned i = 0; i < persons->count; i++) {
        if (boxes_overlap(&persons->box[i], person) > overlap_limit) {
            return true;
        }
    }
    return false;
}

enum status persons_find(const struct model_weights *weights, struct candidates *candidates,
                         const struct boxes_frame *frame, struct boxes *persons, struct error *err) {
    (void)weights;
    persons->count = 0;
    if (candidates->count > CANDIDATES_MAX) {
        return fail(err, ST_LIMIT, "more than %d places of the picture look like persons", CANDIDATES_MAX);
    }
    sort_items(candidates->candidate, candidates->count, sizeof candidates->candidate[0], compare);
    for (uint32_t i = 0; i < candidates->count; i++) {
        struct box person;
        if (!is_anchor(&candidates->candidate[i])) {
            return fail(err, ST_CORRUPT, "a search for persons has no right result");
        }
        if (!decode(&candidates->candidate[i], frame, &person) || is_found(persons, &person)) {
            continue;
        }
        if (persons->count == BOXES_MAX) {
            return fail(err, ST_LIMIT, "the picture has more than %d persons", BOXES_MAX);
        }
        persons->box[persons->count++] = person;
    }
    return ST_OK;
}
