/* SPDX-License-Identifier: MIT */
#include "detect/faces/faces.h"

#include <math.h>

#include "detect/sort.h"

static const double overlap_limit = 0.3;

/* Sides are 4 exp(value): far above any picture's at the upper limit. Without limits infinity times 0 could
 * occur. */
static const double least_exponent = -20, greatest_exponent = 20;

enum { HEAT, SCALE_Y, SCALE_X, OFFSET_Y, OFFSET_X, LANDMARKS };

static double sigmoid(double value) {
    return 1 / (1 + exp(-value));
}

static double head(const struct model_weights *weights, int channel, int32_t sum) {
    return (double)sum * (double)weights->layers[FACE_heads].scale[channel];
}

int32_t faces_least(const struct model_weights *weights, double threshold) {
    int64_t low = INT32_MIN, high = INT32_MAX; /* the answer is in [low, high] */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sigmoid(head(weights, HEAT, (int32_t)middle)) > threshold) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return (int32_t)low;
}

/* By falling score, then by row and column. */
static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    if (one->sum[HEAT] != other->sum[HEAT]) {
        return one->sum[HEAT] > other->sum[HEAT] ? -1 : 1;
    }
    return one->y != other->y ? one->y - other->y : one->x - other->x;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static double side(double value) {
    return FACE_CELL * exp(clamp(value, least_exponent, greatest_exponent));
}

/* The box and landmarks of a candidate, in pixels of the network's picture. */
static struct box decode(const struct model_weights *weights, const struct candidate *from,
                         const struct boxes_frame *frame) {
    double value[FACE_SUMS];
    for (int i = 0; i < FACE_SUMS; i++) {
        value[i] = head(weights, i, from->sum[i]);
    }
    double width = side(value[SCALE_X]), height = side(value[SCALE_Y]);
    double left = (from->x + value[OFFSET_X] + 0.5) * FACE_CELL - width / 2;
    double top = (from->y + value[OFFSET_Y] + 0.5) * FACE_CELL - height / 2;
    struct box face = {.score = sigmoid(value[HEAT])};
    face.x = clamp(left, 0, frame->searched_width);
    face.y = clamp(top, 0, frame->searched_height);
    face.width = fmin(width, frame->searched_width - face.x);
    face.height = fmin(height, frame->searched_height - face.y);
    for (int i = 0; i < FACE_LANDMARKS; i++) {
        face.landmarks[i][0] = value[LANDMARKS + 2 * i + 1] * width + face.x;
        face.landmarks[i][1] = value[LANDMARKS + 2 * i] * height + face.y;
    }
    return face;
}

static bool is_found(const struct boxes *faces, const struct box *face) {
    for (unsigned i = 0; i < faces->count; i++) {
        if (boxes_overlap(&faces->box[i], face) >= overlap_limit) {
            return true;
        }
    }
    return false;
}

static void scale_face(const struct boxes_frame *frame, struct box *face) {
    double x = (double)frame->width / frame->searched_width,
           y = (double)frame->height / frame->searched_height;
    face->x *= x, face->width *= x;
    face->y *= y, face->height *= y;
    for (int i = 0; i < FACE_LANDMARKS; i++) {
        face->landmarks[i][0] *= x, face->landmarks[i][1] *= y;
    }
}

enum status faces_find(const struct model_weights *weights, struct candidates *candidates,
                       const struct boxes_frame *frame, struct boxes *faces, struct error *err) {
    faces->count = 0;
    if (candidates->count > CANDIDATES_MAX) {
        return fail(err, ST_LIMIT, "more than %d places of the picture look like faces", CANDIDATES_MAX);
    }
    sort_items(candidates->candidate, candidates->count, sizeof candidates->candidate[0], compare);
    for (uint32_t i = 0; i < candidates->count; i++) {
        struct box face = decode(weights, &candidates->candidate[i], frame);
        if (!(face.width > 0 && face.height > 0) || is_found(faces, &face)) {
            continue;
        }
        if (faces->count == BOXES_MAX) {
            return fail(err, ST_LIMIT, "the picture has more than %d faces", BOXES_MAX);
        }
        faces->box[faces->count++] = face;
    }
    for (unsigned i = 0; i < faces->count; i++) {
        scale_face(frame, &faces->box[i]);
    }
    return ST_OK;
}
