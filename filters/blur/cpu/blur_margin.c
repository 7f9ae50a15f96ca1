/* SPDX-License-Identifier: MIT */
#include "filters/blur/cpu/blur_margin.h"

#include <string.h>

static void repeat(uint8_t *to, const void *pixel, size_t bytes, size_t count) {
    if (bytes == sizeof(int16_t)) { /* the common case; margins are filled for every row */
        int16_t value;
        memcpy(&value, pixel, sizeof value);
        for (size_t i = 0; i < count; i++) {
            ((int16_t *)(void *)to)[i] = value;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * bytes, pixel, bytes);
    }
}

/* Reflects the pixels of a segment once on both sides; returns the span that is then filled. */
static struct span reflect(const struct grid *to, ptrdiff_t y, unsigned segment, ptrdiff_t last) {
    size_t bytes = to->step * to->value;
    struct span done = {0, last};
    for (; done.hi < to->x.hi && done.hi < 2 * last; done.hi++) {
        memcpy(grid_at(to, y, segment, done.hi + 1), grid_at(to, y, segment, 2 * last - done.hi - 1), bytes);
    }
    for (; done.lo > to->x.lo && done.lo > -last; done.lo--) {
        memcpy(grid_at(to, y, segment, done.lo - 1), grid_at(to, y, segment, 1 - done.lo), bytes);
    }
    return done;
}

/* Fills both margins of a segment around `done`, which is at least one period long, by whole periods: margins
 * may be much longer than a period. */
static void repeat_periods(const struct grid *to, ptrdiff_t y, unsigned segment, struct span done,
                           ptrdiff_t period) {
    size_t bytes = to->step * to->value;
    while (done.hi < to->x.hi) {
        ptrdiff_t whole = (ptrdiff_t)span_length(done) / period * period;
        ptrdiff_t count = to->x.hi - done.hi < whole ? to->x.hi - done.hi : whole;
        memcpy(grid_at(to, y, segment, done.hi + 1), grid_at(to, y, segment, done.hi + 1 - whole),
               (size_t)count * bytes);
        done.hi += count;
    }
    while (done.lo > to->x.lo) {
        ptrdiff_t whole = (ptrdiff_t)span_length(done) / period * period;
        ptrdiff_t count = done.lo - to->x.lo < whole ? done.lo - to->x.lo : whole;
        done.lo -= count;
        memcpy(grid_at(to, y, segment, done.lo), grid_at(to, y, segment, done.lo + whole),
               (size_t)count * bytes);
    }
}

/* Fills the margins of the picture, or of the period that a stage keeps, under EDGE_MIRROR and EDGE_WRAP. */
static void extend_periodic(const struct blur_job *job, const struct grid *to, ptrdiff_t y, unsigned segment,
                            struct span have, bool raw) {
    bool mirror = raw && job->x.edge == EDGE_MIRROR;
    struct span done = mirror ? reflect(to, y, segment, have.hi) : have;
    repeat_periods(to, y, segment, done, mirror ? 2 * have.hi : (ptrdiff_t)span_length(have));
}

void blur_margin_fill(const struct blur_job *job, const struct grid *to, ptrdiff_t y, struct span have,
                      bool raw) {
    size_t bytes = to->step * to->value;
    size_t before = to->x.lo < have.lo ? (size_t)(have.lo - to->x.lo) : 0;
    size_t after = to->x.hi > have.hi ? (size_t)(to->x.hi - have.hi) : 0;
    bool border = raw && job->x.edge == EDGE_ZERO;
    int16_t fixed[3]; /* a pixel of the border; it is 0 in floating point */
    for (unsigned c = 0; c < 3; c++) {
        fixed[c] = (int16_t)(((int)job->border << BLUR_STORE_BITS) - VALUE_BIAS);
    }
    static const float floating[4];
    const void *outside = blur_job_is_float(job) ? (const void *)floating : fixed;
    for (unsigned s = 0; s < to->segments; s++) {
        if (extent_repeats(&job->x)) {
            extend_periodic(job, to, y, s, have, raw);
            continue;
        }
        repeat(grid_at(to, y, s, to->x.lo), border ? outside : grid_at(to, y, s, have.lo), bytes, before);
        repeat(grid_at(to, y, s, have.hi + 1), border ? outside : grid_at(to, y, s, have.hi), bytes, after);
    }
}
