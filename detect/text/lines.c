/* SPDX-License-Identifier: MIT */
#include "detect/text/lines.h"

#include <stdbool.h>
#include <string.h>

#include "core/numbers.h"
#include "detect/sort.h"

static uint16_t min_u16(uint16_t a, uint16_t b) {
    return a < b ? a : b;
}

static uint16_t max_u16(uint16_t a, uint16_t b) {
    return a > b ? a : b;
}

static int32_t height_of(const struct line *line) {
    return line->bottom - line->top;
}

static int32_t width_of(const struct line *line) {
    return line->right - line->left;
}

/* Negative where they overlap. */
static int32_t gap(int32_t from, int32_t to, int32_t other_from, int32_t other_to) {
    return max_i32(from, other_from) - min_i32(to, other_to);
}

static bool stand_beside(const struct line *a, const struct line *b) {
    const int32_t height = min_i32(height_of(a), height_of(b));
    return -2 * gap(a->top, a->bottom, b->top, b->bottom) >= height &&
           2 * gap(a->left, a->right, b->left, b->right) <= 3 * height;
}

static bool stand_below(const struct line *a, const struct line *b) {
    const int32_t width = min_i32(width_of(a), width_of(b)), height = min_i32(height_of(a), height_of(b));
    return -2 * gap(a->left, a->right, b->left, b->right) >= width &&
           3 * gap(a->top, a->bottom, b->top, b->bottom) <= height;
}

static bool touch(const struct line *a, const struct line *b) {
    return gap(a->left, a->right, b->left, b->right) <= 0 && gap(a->top, a->bottom, b->top, b->bottom) <= 0;
}

static int compare(const void *a, const void *b) {
    const struct line *one = a, *other = b;
    const int32_t of[2][4] = {{one->top, one->left, one->bottom, one->right},
                              {other->top, other->left, other->bottom, other->right}};
    for (unsigned i = 0; i < 4; i++) {
        if (of[0][i] != of[1][i]) {
            return of[0][i] < of[1][i] ? -1 : 1;
        }
    }
    return (one->peak > other->peak) - (one->peak < other->peak);
}

static void add_moments(struct line *to, const struct line *from) {
    struct moments sum, other;
    memcpy(&sum, to->moments, sizeof sum);
    memcpy(&other, from->moments, sizeof other);
    moments_add(&sum, &other);
    memcpy(to->moments, &sum, sizeof sum);
}

static void merge(struct line *to, const struct line *from) {
    to->left = min_u16(to->left, from->left);
    to->top = min_u16(to->top, from->top);
    to->right = max_u16(to->right, from->right);
    to->bottom = max_u16(to->bottom, from->bottom);
    to->inner_left = min_u16(to->inner_left, from->inner_left);
    to->inner_top = min_u16(to->inner_top, from->inner_top);
    to->inner_right = max_u16(to->inner_right, from->inner_right);
    to->inner_bottom = max_u16(to->inner_bottom, from->inner_bottom);
    to->peak = max_i32(to->peak, from->peak);
    to->pixels += from->pixels;
    add_moments(to, from);
}

/* One pass over lines that are sorted by their upper edges. What becomes empty is removed. */
static uint32_t join_once(struct line *line, uint32_t count,
                          bool (*joins)(const struct line *, const struct line *)) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j < count && line[i].right > line[i].left; j++) {
            if (line[j].top > line[i].bottom + height_of(&line[i])) {
                break; /* a gap of more than a height */
            }
            if (line[j].right > line[j].left && joins(&line[i], &line[j])) {
                merge(&line[i], &line[j]);
                line[j].right = line[j].left;
            }
        }
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (line[i].right > line[i].left) {
            line[left++] = line[i];
        }
    }
    return left;
}

enum { PASSES = 4 /* the third changes hardly anything on pages, and made-up pictures must not take long */ };

/* A pass may bring lines together that did not touch before. */
static uint32_t join(struct line *line, uint32_t count,
                     bool (*joins)(const struct line *, const struct line *)) {
    for (unsigned pass = 0, before = count + 1; pass < PASSES && count < before; pass++) {
        before = count;
        sort_items(line, count, sizeof *line, compare);
        count = join_once(line, count, joins);
    }
    return count;
}

uint32_t lines_join(struct line *line, uint32_t count) {
    return join(line, count, stand_beside);
}

uint32_t lines_join_touching(struct line *line, uint32_t count) {
    return join(line, count, touch);
}

uint32_t lines_join_blocks(struct line *line, uint32_t count) {
    return join(line, count, stand_below);
}
