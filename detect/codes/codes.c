/* SPDX-License-Identifier: MIT */
#include "detect/codes/codes.h"

#include <math.h>
#include <stdbool.h>

static const double units = 256; /* of a score */

static double probability(int32_t score) {
    return 1 / (1 + exp(-score / units));
}

int32_t codes_least(double threshold) {
    for (int32_t score = -CODES_SURE; score <= CODES_SURE; score++) {
        if (probability(score) > threshold) {
            return score;
        }
    }
    return INT32_MAX;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* The upright box around a candidate's corners, within the picture. */
static struct box around(const struct candidate *from, const struct boxes_frame *frame) {
    const int32_t *corner = &from->sum[CODES_SUM_CORNERS];
    double least[2] = {corner[0], corner[1]}, most[2] = {corner[0], corner[1]};
    for (int i = 1; i < 4; i++) {
        for (int axis = 0; axis < 2; axis++) {
            least[axis] = fmin(least[axis], corner[2 * i + axis]);
            most[axis] = fmax(most[axis], corner[2 * i + axis]);
        }
    }
    const double across = (double)frame->width / frame->searched_width;
    const double down = (double)frame->height / frame->searched_height;
    const double left = clamp(least[0] * across, 0, frame->width - 1.0);
    const double top = clamp(least[1] * down, 0, frame->height - 1.0);
    const double right = clamp(most[0] * across, left + 1, frame->width);
    const double bottom = clamp(most[1] * down, top + 1, frame->height);
    return (struct box){.x = left,
                        .y = top,
                        .width = right - left,
                        .height = bottom - top,
                        .score = probability(from->sum[CODES_SUM_SCORE])};
}

/* The area that two boxes share. */
static double shared(const struct box *one, const struct box *other) {
    double width = fmin(one->x + one->width, other->x + other->width) - fmax(one->x, other->x);
    double height = fmin(one->y + one->height, other->y + other->height) - fmax(one->y, other->y);
    return width > 0 && height > 0 ? width * height : 0;
}

static bool has_all(const struct box *box, const struct box *other) {
    return box->x <= other->x && box->y <= other->y && box->x + box->width >= other->x + other->width &&
           box->y + box->height >= other->y + other->height;
}

/* Whether two boxes share more than half of the smaller one. */
static bool is_same(const struct box *one, const struct box *other) {
    return shared(one, other) * 2 > fmin(one->width * one->height, other->width * other->height);
}

static void join(struct box *box, const struct box *other) {
    double right = fmax(box->x + box->width, other->x + other->width);
    double bottom = fmax(box->y + box->height, other->y + other->height);
    box->x = fmin(box->x, other->x);
    box->y = fmin(box->y, other->y);
    box->width = right - box->x;
    box->height = bottom - box->y;
    box->score = fmax(box->score, other->score);
}

/* Adds a box. A box that is_same() as it is joined with it; the joined box may then be the same as others,
 * which are joined, too. False when there is no room. */
static bool add(struct boxes *boxes, struct box box) {
    for (unsigned i = 0; i < boxes->count; i++) {
        if (has_all(&boxes->box[i], &box)) {
            boxes->box[i].score = fmax(boxes->box[i].score, box.score);
            return true;
        }
    }
    for (unsigned i = 0; i < boxes->count;) {
        if (is_same(&boxes->box[i], &box)) {
            join(&box, &boxes->box[i]);
            boxes->box[i] = boxes->box[--boxes->count];
            i = 0;
        } else {
            i++;
        }
    }
    if (boxes->count == BOXES_MAX) {
        return false;
    }
    boxes->box[boxes->count++] = box;
    return true;
}

static void sort(struct boxes *boxes) {
    for (unsigned i = 1; i < boxes->count; i++) {
        const struct box moved = boxes->box[i];
        unsigned at = i;
        for (; at > 0 && boxes->box[at - 1].score < moved.score; at--) {
            boxes->box[at] = boxes->box[at - 1];
        }
        boxes->box[at] = moved;
    }
}

enum status codes_find(const struct model_weights *weights, struct candidates *candidates,
                       const struct boxes_frame *frame, struct boxes *boxes, struct error *err) {
    (void)weights;
    boxes->count = 0;
    bool all = candidates->count <= CANDIDATES_MAX;
    for (uint32_t i = 0; i < candidates->count && all; i++) {
        all = add(boxes, around(&candidates->candidate[i], frame));
    }
    if (!all) {
        return fail(err, ST_LIMIT, "more codes were found than can be hidden, %u at most", BOXES_MAX);
    }
    sort(boxes);
    return ST_OK;
}
