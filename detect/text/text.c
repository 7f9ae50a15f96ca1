/* SPDX-License-Identifier: MIT */
#include "detect/text/text.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"
#include "detect/components.h"

enum {
    LOGITS = 16, /* steps of a byte of the map (detect/convert.py, MAP_SCALE) */
    HEIGHT_MAX =
        100, /* pixels: a component whose shorter side is longer is no text, unless it is a turned line */
    TURNED_MAX = 50,  /* pixels: the greatest thickness of a turned line */
    TURNED_LONG = 6,  /* and the least ratio of its longer side to its thickness */
    GROWTH = 10,      /* sixteenths of the short side: the map has the inner part of a line only */
    GROWTH_LEAST = 2, /* pixels in addition */
};

int32_t text_least(const struct model_weights *weights, double threshold) {
    (void)weights;
    if (!(threshold > 0)) {
        return 1;
    }
    const double byte =
        threshold < 1 ? ceil(NETWORK_LINEAR_ZERO + LOGITS * log(threshold / (1 - threshold))) : 256;
    return byte > 255 ? INT32_MAX : byte < 1 ? 1 : (int32_t)byte;
}

static double probability(int32_t byte) {
    return 1 / (1 + exp((double)(NETWORK_LINEAR_ZERO - byte) / LOGITS));
}

static bool is_component(const struct candidate *from, const struct boxes_frame *frame) {
    const int64_t width = (int64_t)from->sum[COMPONENT_RIGHT] - from->x,
                  height = (int64_t)from->sum[COMPONENT_BOTTOM] - from->y;
    const int32_t pixels = from->sum[COMPONENT_PIXELS], peak = from->sum[COMPONENT_PEAK];
    const int64_t most = (int64_t)2 * (TEXT_BORDER + TEXT_UNIT);
    return width > 0 && height > 0 && from->sum[COMPONENT_RIGHT] <= frame->searched_width + most &&
           from->sum[COMPONENT_BOTTOM] <= frame->searched_height + most && pixels > 0 &&
           pixels <= width * height && peak > 0 && peak <= 255;
}

/* How thick the stroke is that a component would be, also one that is turned. */
static int32_t thickness(const struct candidate *from, int32_t width, int32_t height) {
    const int32_t longer = width > height ? width : height;
    return (from->sum[COMPONENT_PIXELS] - 1) / longer + 1;
}

/* The rectangle in the picture around what a component is the inner part of. False: it is none of the
 * picture, or too thick. */
static bool grow(const struct candidate *from, const struct boxes_frame *frame, struct line *line) {
    const int32_t width = from->sum[COMPONENT_RIGHT] - from->x,
                  height = from->sum[COMPONENT_BOTTOM] - from->y;
    const int32_t thick = thickness(from, width, height), shorter = width < height ? width : height;
    const int32_t side = shorter < 2 * thick ? shorter : 2 * thick;
    const int32_t by = GROWTH * side / 16 + GROWTH_LEAST;
    const int32_t left = from->x - TEXT_BORDER, top = from->y - TEXT_BORDER; /* in the picture */
    *line = (struct line){.left = max_i32(left - by, 0),
                          .top = max_i32(top - by, 0),
                          .right = min_i32(left + width + by, (int32_t)frame->searched_width),
                          .bottom = min_i32(top + height + by, (int32_t)frame->searched_height),
                          .peak = from->sum[COMPONENT_PEAK]};
    const int32_t longer = width > height ? width : height;
    const bool turned = thick <= TURNED_MAX && longer >= TURNED_LONG * thick;
    return (shorter <= HEIGHT_MAX || turned) && line->left < line->right && line->top < line->bottom;
}

/* Lines take the place of candidates, which are larger. */
_Static_assert(sizeof(struct line) <= sizeof(struct candidate), "a line fits where a candidate was");

static enum status grow_all(struct candidates *candidates, const struct boxes_frame *frame, struct line *line,
                            uint32_t *count, struct error *err) {
    *count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct candidate from = candidates->candidate[i];
        struct line grown;
        if (!is_component(&from, frame)) {
            return fail(err, ST_CORRUPT, "the search found a line of text that is none of the picture");
        }
        if (grow(&from, frame, &grown)) {
            memcpy(&line[(*count)++], &grown, sizeof grown);
        }
    }
    return ST_OK;
}

static int32_t round_up(int32_t value, int32_t step, uint32_t most) {
    const int32_t up = (value + step - 1) / step * step;
    return up > (int32_t)most ? (int32_t)most : up;
}

/* Blocks that fit would tell how long a word is that stands alone or ends a line, and whether its letters
 * reach below the line. A least width is not enough: the edges would still follow the word's middle. */
static void coarsen(struct line *line, uint32_t count, const struct boxes_frame *frame) {
    for (uint32_t i = 0; i < count; i++) {
        line[i].left -= line[i].left % TEXT_GRID_X;
        line[i].top -= line[i].top % TEXT_GRID_Y;
        line[i].right = round_up(line[i].right, TEXT_GRID_X, frame->searched_width);
        line[i].bottom = round_up(line[i].bottom, TEXT_GRID_Y, frame->searched_height);
    }
}

static struct box box_of(const struct line *line, const struct boxes_frame *frame) {
    const double x = (double)frame->width / frame->searched_width,
                 y = (double)frame->height / frame->searched_height;
    return (struct box){.x = line->left * x,
                        .y = line->top * y,
                        .width = (line->right - line->left) * x,
                        .height = (line->bottom - line->top) * y,
                        .score = probability(line->peak)};
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
        boxes->box[boxes->count++] = box_of(&line[i], frame);
    }
    return ST_OK;
}
