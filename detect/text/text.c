/* SPDX-License-Identifier: MIT */
#include "detect/text/text.h"

#include <string.h>

#include "core/numbers.h"
#include "detect/components.h"
#include "detect/text/turned.h"

enum {
    HEIGHT_MAX =
        100, /* pixels: a component whose shorter side is longer is no text, unless it is a turned line */
    TURNED_MAX = 50,                            /* pixels: the greatest thickness of a turned line */
    TURNED_LONG = 6,                            /* and the least ratio of its longer side to its thickness */
    MAP_LARGER = 2 * (TEXT_BORDER + TEXT_UNIT), /* pixels on a side than the picture, at most */
};

int32_t text_least(const struct model_weights *weights, double threshold) {
    (void)weights;
    return network_byte(threshold);
}

static bool is_between(uint64_t sum, uint64_t least, uint64_t most, uint64_t pixels) {
    return sum >= least * pixels && sum <= most * pixels;
}

/* Whether the sums can be of that many pixels between the edges, which are right. */
static bool has_moments(const struct candidate *from) {
    const uint64_t left = from->x, right = (uint64_t)from->sum[COMPONENT_RIGHT] - 1, top = from->y,
                   bottom = (uint64_t)from->sum[COMPONENT_BOTTOM] - 1,
                   pixels = (uint64_t)from->sum[COMPONENT_PIXELS];
    struct moments sum;
    memcpy(&sum, &from->sum[COMPONENT_MOMENTS], sizeof sum);
    return is_between(sum.x, left, right, pixels) && is_between(sum.y, top, bottom, pixels) &&
           is_between(sum.xx, left * left, right * right, pixels) &&
           is_between(sum.xy, left * top, right * bottom, pixels) &&
           is_between(sum.yy, top * top, bottom * bottom, pixels);
}

static bool is_component(const struct candidate *from, const struct boxes_frame *frame) {
    const int64_t width = (int64_t)from->sum[COMPONENT_RIGHT] - from->x,
                  height = (int64_t)from->sum[COMPONENT_BOTTOM] - from->y;
    const int32_t pixels = from->sum[COMPONENT_PIXELS], peak = from->sum[COMPONENT_PEAK];
    const int64_t most = MAP_LARGER;
    return width > 0 && height > 0 && from->sum[COMPONENT_RIGHT] <= frame->searched_width + most &&
           from->sum[COMPONENT_BOTTOM] <= frame->searched_height + most && pixels > 0 &&
           pixels <= width * height && peak > 0 && peak <= 255 && has_moments(from);
}

/* How thick the stroke is that a component would be, also one that is turned. */
static int32_t thickness(const struct candidate *from, int32_t width, int32_t height) {
    const int32_t longer = width > height ? width : height;
    return (from->sum[COMPONENT_PIXELS] - 1) / longer + 1;
}

/* An edge, moved into the picture, whose sides have 16 bits. */
static uint16_t within(int32_t edge, int32_t side) {
    return (uint16_t)min_i32(max_i32(edge, 0), side);
}

/* The rectangle in the picture around what a component is the inner part of. False: it is none of the
 * picture, or too thick. */
static bool grow(const struct candidate *from, const struct boxes_frame *frame, struct line *line) {
    const int32_t width = from->sum[COMPONENT_RIGHT] - from->x,
                  height = from->sum[COMPONENT_BOTTOM] - from->y;
    const int32_t thick = thickness(from, width, height), shorter = width < height ? width : height;
    const int32_t side = shorter < 2 * thick ? shorter : 2 * thick;
    const int32_t by = LINES_GROWTH * side / 16 + LINES_GROWTH_LEAST;
    const int32_t left = from->x - TEXT_BORDER, top = from->y - TEXT_BORDER; /* in the picture */
    const int32_t right = (int32_t)frame->searched_width, bottom = (int32_t)frame->searched_height;
    *line = (struct line){.left = within(left - by, right),
                          .top = within(top - by, bottom),
                          .right = within(left + width + by, right),
                          .bottom = within(top + height + by, bottom),
                          .inner_left = within(left, right),
                          .inner_top = within(top, bottom),
                          .inner_right = within(left + width, right),
                          .inner_bottom = within(top + height, bottom),
                          .peak = from->sum[COMPONENT_PEAK],
                          .pixels = (uint32_t)from->sum[COMPONENT_PIXELS]};
    memcpy(line->moments, &from->sum[COMPONENT_MOMENTS], sizeof line->moments);
    const int32_t longer = width > height ? width : height;
    const bool turned = thick <= TURNED_MAX && longer >= TURNED_LONG * thick;
    return (shorter <= HEIGHT_MAX || turned) && line->left < line->right && line->top < line->bottom;
}

/* Lines take the place of candidates. */
_Static_assert(sizeof(struct line) <= sizeof(struct candidate) && _Alignof(struct line) <= sizeof(uint32_t),
               "a line fits where a candidate was");

static enum status grow_all(struct candidates *candidates, const struct boxes_frame *frame, struct line *line,
                            uint32_t *count, struct error *err) {
    uint64_t room = (uint64_t)(frame->searched_width + MAP_LARGER) * (frame->searched_height + MAP_LARGER);
    room = room < UINT32_MAX ? room : UINT32_MAX; /* pixels of the map that are in no component so far */
    *count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct candidate from = candidates->candidate[i];
        const uint64_t pixels = (uint32_t)from.sum[COMPONENT_PIXELS];
        struct line grown;
        if (!is_component(&from, frame) || pixels > room) {
            return fail(err, ST_CORRUPT, "the search found a line of text that is none of the picture");
        }
        room -= pixels;
        if (grow(&from, frame, &grown)) {
            memcpy(&line[(*count)++], &grown, sizeof grown);
        }
    }
    return ST_OK;
}

static uint16_t round_up(int32_t value, int32_t step, uint32_t most) {
    return within((value + step - 1) / step * step, (int32_t)most);
}

/* Blocks that fit would tell how long a word is that stands alone or ends a line, and whether its letters
 * reach below the line. A least width is not enough: the edges would still follow the word's middle. */
static void coarsen(struct line *line, uint32_t count, const struct boxes_frame *frame) {
    for (uint32_t i = 0; i < count; i++) {
        line[i].left = (uint16_t)(line[i].left - line[i].left % TEXT_GRID_X);
        line[i].top = (uint16_t)(line[i].top - line[i].top % TEXT_GRID_Y);
        line[i].right = round_up(line[i].right, TEXT_GRID_X, frame->searched_width);
        line[i].bottom = round_up(line[i].bottom, TEXT_GRID_Y, frame->searched_height);
    }
}

/* A polygon would tell what coarsened boxes hide. */
static void add_box(const struct line *line, const struct boxes_frame *frame, struct boxes *boxes) {
    const double x = (double)frame->width / frame->searched_width,
                 y = (double)frame->height / frame->searched_height;
    struct box *box = &boxes->box[boxes->count++];
    *box = (struct box){.x = line->left * x,
                        .y = line->top * y,
                        .width = (line->right - line->left) * x,
                        .height = (line->bottom - line->top) * y,
                        .score = network_probability(line->peak),
                        .turned = !frame->conceals};
    if (box->turned) {
        turned_corners(line, TEXT_BORDER, box->corner);
    }
    for (unsigned i = 0; i < BOXES_CORNERS; i++) {
        box->corner[i][0] *= x;
        box->corner[i][1] *= y;
    }
}

/* In the order of reading, as far as the upper edges tell it. */
enum status text_find(const struct model_weights *weights, struct candidates *candidates,
                      const struct boxes_frame *frame, struct boxes *boxes, struct error *err) {
    struct line *line = (struct line *)(void *)candidates->candidate;
    uint32_t count = 0;
    (void)weights;
    boxes->count = 0;
    if (candidates->count > CANDIDATES_MAX) {
        return fail(err, ST_LIMIT, "more than %d places of the picture look like text", CANDIDATES_MAX);
    }
    enum status status = grow_all(candidates, frame, line, &count, err);
    if (status != ST_OK) {
        return status;
    }
    count = lines_join(line, count);
    if (frame->conceals) {
        count = lines_join_blocks(line, count);
        coarsen(line, count, frame);
    }
    if (count > BOXES_MAX) {
        return fail(err, ST_LIMIT, "the picture has more than %d lines of text", BOXES_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        add_box(&line[i], frame, boxes);
    }
    return ST_OK;
}
