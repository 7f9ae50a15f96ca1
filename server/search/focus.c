/* SPDX-License-Identifier: MIT */
#include "server/search/focus.h"

#include <math.h>

/* Along x, then along y. */
enum { AXES = 2, PLACES = 2 * FOCUS_BOXES + 3 };

struct weighed {
    double begin[AXES], size[AXES], weight;
};

/* The heaviest boxes, and the part that keeps as much of them as it can. */
struct focus {
    unsigned count;
    struct weighed box[FOCUS_BOXES];
    double size[AXES], room[AXES]; /* of the part, and where it can begin: from 0 to that */
};

/* Returns the heaviest box that is lighter than `below`, or as heavy and behind index `after`; -1: none. */
static int next_box(const struct boxes *boxes, double below, int after) {
    int best = -1;
    double most = 0;
    for (unsigned i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->box[i];
        const double weight = box->width * box->height * box->score;
        const bool left = weight < below || (weight == below && (int)i > after);
        if (left && weight > most) {
            best = (int)i;
            most = weight;
        }
    }
    return best;
}

static void weigh(struct focus *focus, const struct boxes *boxes) {
    double below = INFINITY;
    int index = -1;
    focus->count = 0;
    while (focus->count < FOCUS_BOXES && (index = next_box(boxes, below, index)) >= 0) {
        const struct box *box = &boxes->box[index];
        below = box->width * box->height * box->score;
        focus->box[focus->count++] = (struct weighed){{box->x, box->y}, {box->width, box->height}, below};
    }
}

/* How much of a box lies in the part, along one axis. */
static double overlap(const struct focus *focus, const struct weighed *box, unsigned axis, double begin) {
    const double end = fmin(begin + focus->size[axis], box->begin[axis] + box->size[axis]);
    return fmax(end - fmax(begin, box->begin[axis]), 0);
}

static double worth(const struct focus *focus, const struct weighed *box, const double begin[AXES]) {
    const double share =
        overlap(focus, box, 0, begin[0]) * overlap(focus, box, 1, begin[1]) / (box->size[0] * box->size[1]);
    return box->weight * share * share;
}

static double worth_of_all(const struct focus *focus, const double begin[AXES]) {
    double sum = 0;
    for (unsigned i = 0; i < focus->count; i++) {
        sum += worth(focus, &focus->box[i], begin);
    }
    return sum;
}

/* Between these places the worth is convex along the axis, so that one of them has the most. */
static unsigned list_places(const struct focus *focus, unsigned axis, double place[PLACES]) {
    const double room = focus->room[axis];
    unsigned count = 0;
    place[count++] = room / 2;
    if (room <= 0) {
        return count;
    }
    place[count++] = 0;
    place[count++] = room;
    for (unsigned i = 0; i < focus->count; i++) {
        const struct weighed *box = &focus->box[i];
        place[count++] = fmin(fmax(box->begin[axis], 0), room);
        place[count++] = fmin(fmax(box->begin[axis] + box->size[axis] - focus->size[axis], 0), room);
    }
    return count;
}

static void find_best(const struct focus *focus, double begin[AXES]) {
    double place[AXES][PLACES], most = -1;
    const unsigned columns = list_places(focus, 0, place[0]), rows = list_places(focus, 1, place[1]);
    for (unsigned i = 0; i < columns * rows; i++) {
        const double at[AXES] = {place[0][i % columns], place[1][i / columns]};
        const double sum = worth_of_all(focus, at);
        if (sum > most) {
            most = sum;
            begin[0] = at[0];
            begin[1] = at[1];
        }
    }
}

/* As near to the middle of what is kept as no box loses by it along this axis. */
static double middle(const struct focus *focus, unsigned axis, const double begin[AXES]) {
    const double least_loss = 1e-6;
    double sum = 0, weight = 0, from = 0, to = focus->room[axis];
    for (unsigned i = 0; i < focus->count; i++) {
        const struct weighed *box = &focus->box[i];
        const double part = worth(focus, box, begin);
        const double first = box->begin[axis], last = first + box->size[axis] - focus->size[axis];
        const bool whole =
            overlap(focus, box, axis, begin[axis]) >= fmin(box->size[axis], focus->size[axis]) - least_loss;
        sum += part * (first + box->size[axis] / 2);
        weight += part;
        if (part > 0 && whole) {
            from = fmax(from, fmin(first, last));
            to = fmin(to, fmax(first, last));
        }
    }
    return weight > 0 && from <= to ? fmin(fmax(sum / weight - focus->size[axis] / 2, from), to)
                                    : begin[axis];
}

static void centre(const struct focus *focus, double begin[AXES]) {
    const double rounding = 1e-9;
    for (unsigned axis = 0; axis < AXES; axis++) {
        double moved[AXES] = {begin[0], begin[1]};
        moved[axis] = middle(focus, axis, begin);
        if (worth_of_all(focus, moved) >= worth_of_all(focus, begin) * (1 - rounding)) {
            begin[axis] = moved[axis];
        }
    }
}

bool focus_choose(const struct boxes *boxes, const uint32_t sides[2], const double size[2], double begin[2]) {
    struct focus focus;
    for (unsigned axis = 0; axis < AXES; axis++) {
        focus.size[axis] = size[axis];
        focus.room[axis] = fmax(sides[axis] - size[axis], 0);
    }
    weigh(&focus, boxes);
    if (focus.count == 0) {
        return false;
    }
    find_best(&focus, begin);
    centre(&focus, begin);
    return true;
}

bool focus_apply(struct work_plan *plan) {
    bool all = true;
    for (unsigned i = 0; i < plan->chain.count; i++) {
        const struct filter_window *window = filter_get(plan->chain.step[i].filter)->window;
        const unsigned number = window ? window->follows(&plan->parameters->ops.operation[i].arguments) : 0;
        if (number == 0 || plan->focused >> i & 1) {
            continue;
        }
        const struct image_shape shape = chain_shape(&plan->chain, &plan->filtered, i);
        const uint32_t sides[2] = {shape.width, shape.height};
        double size[2], begin[2];
        window->size(step_plan(&plan->chain.step[i]), size);
        const unsigned kind = detection_kind(&plan->detection, (enum detector_id)(number - 1));
        if (focus_choose(&plan->detection.found->boxes[kind], sides, size, begin)) {
            window->move(step_planned(&plan->chain.step[i]), &shape, begin);
            plan->focused |= UINT32_C(1) << i;
        }
        all = all && plan->focused >> i & 1;
    }
    return all;
}
