/* SPDX-License-Identifier: MIT */
#include "detect/boxes.h"

#include <math.h>
#include <string.h>

/* From this overlap on, two boxes are about the same thing, and hide the same of it. */
static const double equal_overlap = 0.5;

static const char too_many[] = "more than %d places were found in the picture";

static double shared(double a, double a_size, double b, double b_size) {
    return fmax(0, fmin(a + a_size, b + b_size) - fmax(a, b));
}

double boxes_overlap(const struct box *a, const struct box *b) {
    double both = shared(a->x, a->width, b->x, b->width) * shared(a->y, a->height, b->y, b->height);
    return both / (a->width * a->height + b->width * b->height - both);
}

static void exchange(double a[2], double b[2]) {
    for (unsigned i = 0; i < 2; i++) {
        double one = a[i];
        a[i] = b[i];
        b[i] = one;
    }
}

void boxes_mirror(struct boxes *boxes, uint32_t width) {
    for (unsigned i = 0; i < boxes->count; i++) {
        struct box *box = &boxes->box[i];
        box->x = fmax(width - box->x - box->width, 0);
        for (unsigned k = 0; k < BOXES_LANDMARKS; k++) {
            box->landmarks[k][0] = width - box->landmarks[k][0];
        }
        exchange(box->landmarks[0], box->landmarks[1]); /* eyes; the nose stays */
        exchange(box->landmarks[3], box->landmarks[4]); /* corners of the mouth */
    }
}

/* From this overlap on, the box with the higher score is the better one of the same thing. */
static const double better_overlap = 0.6;

/* Whether a box with at least that score overlaps so much. */
static bool has(const struct boxes *boxes, const struct box *box, double overlap, double score) {
    for (unsigned i = 0; i < boxes->count; i++) {
        if (boxes->box[i].score >= score && boxes_overlap(&boxes->box[i], box) >= overlap) {
            return true;
        }
    }
    return false;
}

/* Behind all of the same score. */
static void insert(struct boxes *boxes, const struct box *box) {
    unsigned place = boxes->count;
    while (place > 0 && boxes->box[place - 1].score < box->score) {
        place--;
    }
    memmove(&boxes->box[place + 1], &boxes->box[place], (boxes->count - place) * sizeof *box);
    boxes->box[place] = *box;
    boxes->count++;
}

enum status boxes_join(struct boxes *boxes, const struct boxes *more, struct error *err) {
    for (unsigned i = 0; i < more->count; i++) {
        if (has(boxes, &more->box[i], equal_overlap, -INFINITY)) {
            continue;
        }
        if (boxes->count == BOXES_MAX) {
            return fail(err, ST_LIMIT, too_many, BOXES_MAX);
        }
        insert(boxes, &more->box[i]);
    }
    return ST_OK;
}

/* Leaves out the boxes with lower scores that a box takes the place of. */
static void clear(struct boxes *boxes, const struct box *box) {
    unsigned kept = 0;
    for (unsigned i = 0; i < boxes->count; i++) {
        const struct box *other = &boxes->box[i];
        if (other->score >= box->score || boxes_overlap(other, box) < better_overlap) {
            boxes->box[kept++] = *other;
        }
    }
    boxes->count = kept;
}

enum status boxes_join_better(struct boxes *boxes, const struct boxes *more, struct error *err) {
    for (unsigned i = 0; i < more->count; i++) {
        if (has(boxes, &more->box[i], better_overlap, more->box[i].score)) {
            continue;
        }
        clear(boxes, &more->box[i]);
        if (boxes->count == BOXES_MAX) {
            return fail(err, ST_LIMIT, too_many, BOXES_MAX);
        }
        insert(boxes, &more->box[i]);
    }
    return ST_OK;
}

void boxes_leave_out(struct boxes *boxes, const struct boxes *known) {
    unsigned kept = 0;
    for (unsigned i = 0; i < boxes->count; i++) {
        if (!has(known, &boxes->box[i], better_overlap, -INFINITY)) {
            boxes->box[kept++] = boxes->box[i];
        }
    }
    boxes->count = kept;
}
