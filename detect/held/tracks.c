/* SPDX-License-Identifier: MIT */
#include "detect/held/tracks.h"

#include <math.h>

#include "core/numbers.h"

enum { SHARES = 64, LINKED = SHARES / 2 }; /* of what two boxes cover together, the part that they share */

static int64_t area(const struct track_box *box) {
    return (int64_t)(box->right - box->left) * (box->bottom - box->top);
}

static int64_t length(int32_t from, int32_t to) {
    return to > from ? to - from : 0;
}

static int64_t share(const struct track_box *a, const struct track_box *b) {
    const int64_t both = length(max_i32(a->left, b->left), min_i32(a->right, b->right)) *
                         length(max_i32(a->top, b->top), min_i32(a->bottom, b->bottom));
    return both * SHARES / (area(a) + area(b) - both);
}

static int32_t edge(double value) {
    return (int32_t)fmin(fmax(value, -TRACKS_SIDE_MAX), TRACKS_SIDE_MAX);
}

/* Rounding moves the middle by half a unit at most. An ellipse of half axes a and b that is moved by (x, y)
 * lies within one that is 1 + x / a + y / b times as large. */
struct track_box tracks_box(const double number[4], unsigned kind, bool round) {
    const double unit = TRACKS_UNIT, width = number[2], height = number[3];
    const double wider = round ? (1 + width / height) / unit : 0,
                 higher = round ? (1 + height / width) / unit : 0;
    return (struct track_box){.left = edge(floor((number[0] - wider) * unit)),
                              .top = edge(floor((number[1] - higher) * unit)),
                              .right = edge(ceil((number[0] + width + wider) * unit)),
                              .bottom = edge(ceil((number[1] + height + higher) * unit)),
                              .kind = (uint8_t)kind,
                              .round = round};
}

static void begin(struct track *track, const struct track_box *box) {
    const int64_t middle[2] = {(int64_t)box->left + box->right, (int64_t)box->top + box->bottom};
    *track = (struct track){.last = *box,
                            .around = *box,
                            .count = 1,
                            .least = area(box),
                            .wide = box->right - box->left,
                            .high = box->bottom - box->top,
                            .middle_from = {middle[0], middle[1]},
                            .middle_to = {middle[0], middle[1]}};
}

static void append(struct track *track, const struct track_box *box) {
    struct track one;
    struct track_box *around = &track->around;
    begin(&one, box);
    around->left = min_i32(around->left, box->left);
    around->top = min_i32(around->top, box->top);
    around->right = max_i32(around->right, box->right);
    around->bottom = max_i32(around->bottom, box->bottom);
    track->last = *box;
    track->count++;
    track->least = min_i64(track->least, one.least);
    track->wide = max_i32(track->wide, one.wide);
    track->high = max_i32(track->high, one.high);
    for (unsigned i = 0; i < 2; i++) {
        track->middle_from[i] = min_i64(track->middle_from[i], one.middle_from[i]);
        track->middle_to[i] = max_i64(track->middle_to[i], one.middle_to[i]);
    }
}

/* The track that the box continues; tracks->count: none. */
static uint32_t continued(const struct tracks *tracks, const struct track_box *box) {
    uint32_t best = tracks->count;
    int64_t most = LINKED - 1;
    for (uint32_t i = 0; i < tracks->count; i++) {
        const struct track_box *last = &tracks->track[i].last;
        const bool alike = last->kind == box->kind && last->round == box->round;
        const int64_t shared = alike ? share(last, box) : 0;
        if (shared > most) {
            most = shared;
            best = i;
        }
    }
    return best;
}

static enum status link_all(struct tracks *tracks, struct track_box *found, uint32_t count, uint32_t most,
                            struct error *err) {
    tracks->count = tracks->held = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct track_box *box = &found[i];
        const uint32_t at = continued(tracks, box);
        if (at < tracks->count) {
            append(&tracks->track[at], box);
        } else if (at == most) {
            return fail(err, ST_LIMIT,
                        "more than %u places were found in a frame and those beside it; a smaller "
                        "detect_hold has fewer",
                        most);
        } else {
            begin(&tracks->track[tracks->count++], box);
        }
        box->track = (uint16_t)at;
    }
    return ST_OK;
}

static bool is_still(const struct track *track) {
    return track->least * 4 >= area(&track->around) * 3;
}

/* The box whose sides grow around the middle of all, for an ellipse that contains all of them: by what the
 * middles are off, and by as much in proportion across. Sides and middles are both doubled here. */
static struct track_box enlarged(const struct track *track) {
    struct track_box box = track->around;
    const int64_t middle[2] = {(int64_t)box.left + box.right, (int64_t)box.top + box.bottom};
    int64_t off[2];
    for (unsigned i = 0; i < 2; i++) {
        off[i] = max_i64(track->middle_to[i] - middle[i], middle[i] - track->middle_from[i]);
    }
    int64_t wide = track->wide + off[0] + (off[1] * track->wide + track->high - 1) / track->high;
    int64_t high = track->high + off[1] + (off[0] * track->high + track->wide - 1) / track->wide;
    wide += (wide ^ middle[0]) & 1; /* such that the edges are whole units */
    high += (high ^ middle[1]) & 1;
    box.left = (int32_t)((middle[0] - wide) / 2);
    box.right = (int32_t)((middle[0] + wide) / 2);
    box.top = (int32_t)((middle[1] - high) / 2);
    box.bottom = (int32_t)((middle[1] + high) / 2);
    return box;
}

static struct track_box one_of(const struct track *track) {
    struct track_box box = track->around;
    if (is_still(track)) {
        return track->count > 1 && box.round ? enlarged(track) : box;
    }
    box.round = false; /* its corners belong to what is covered on the way */
    return box;
}

enum status tracks_hold(struct tracks *tracks, struct track_box *found, uint32_t count, uint32_t most,
                        struct error *err) {
    enum status status = link_all(tracks, found, count, most, err);
    uint64_t all = 0;
    for (uint32_t i = 0; i < tracks->count; i++) {
        all += is_still(&tracks->track[i]) ? 1 : tracks->track[i].count;
    }
    const bool crowded = all > most;
    for (uint32_t i = 0; i < tracks->count && status == ST_OK; i++) {
        if (crowded || is_still(&tracks->track[i])) {
            tracks->box[tracks->held++] = one_of(&tracks->track[i]);
        }
    }
    for (uint32_t i = 0; i < count && status == ST_OK && !crowded; i++) {
        if (!is_still(&tracks->track[found[i].track])) {
            tracks->box[tracks->held++] = found[i];
        }
    }
    return status;
}
