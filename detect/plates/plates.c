/* SPDX-License-Identifier: MIT */
#include "detect/plates/plates.h"

#include <string.h>

#include "core/numbers.h"
#include "detect/components.h"
#include "detect/sort.h"
#include "detect/text/lines.h"
#include "detect/text/text_network.h"

int32_t plates_least(const struct model_weights *weights, double threshold) {
    (void)weights;
    return network_byte(threshold);
}

/* Cells on a side of the map of a picture with so many pixels on it, at most. */
static int64_t cells_most(uint32_t side) {
    return ((int64_t)side + 2 * TEXT_BORDER + TEXT_UNIT) / PLATES_CELL;
}

static bool is_component(const struct candidate *from, const struct boxes_frame *frame) {
    const int64_t right = from->sum[COMPONENT_RIGHT], bottom = from->sum[COMPONENT_BOTTOM];
    const int64_t width = right - from->x, height = bottom - from->y;
    const int32_t cells = from->sum[COMPONENT_PIXELS], peak = from->sum[COMPONENT_PEAK];
    return width > 0 && height > 0 && right <= cells_most(frame->searched_width) &&
           bottom <= cells_most(frame->searched_height) && cells > 0 && cells <= width * height && peak > 0 &&
           peak <= UINT8_MAX;
}

/* The place of the edge of a cell in the picture, moved by so many pixels. */
static uint16_t edge_of(int32_t cell, int32_t by, uint32_t side) {
    return (uint16_t)min_i32(max_i32(PLATES_CELL * cell - TEXT_BORDER + by, 0), (int32_t)side);
}

/* Plates take the place of candidates. */
_Static_assert(sizeof(struct line) <= sizeof(struct candidate) && _Alignof(struct line) <= sizeof(uint32_t),
               "a plate fits where a candidate was");

static enum status grow_all(struct candidates *candidates, const struct boxes_frame *frame,
                            struct line *plate, uint32_t *count, struct error *err) {
    int64_t room = cells_most(frame->searched_width) * cells_most(frame->searched_height);
    *count = 0;
    for (uint32_t i = 0; i < candidates->count; i++) {
        const struct candidate from = candidates->candidate[i];
        room -= from.sum[COMPONENT_PIXELS];
        if (!is_component(&from, frame) || room < 0) {
            return fail(err, ST_CORRUPT, "the search found a plate that is none of the picture");
        }
        const struct line grown = {
            .left = edge_of(from.x, -PLATES_GROWTH, frame->searched_width),
            .top = edge_of(from.y, -PLATES_GROWTH, frame->searched_height),
            .right = edge_of(from.sum[COMPONENT_RIGHT], PLATES_GROWTH, frame->searched_width),
            .bottom = edge_of(from.sum[COMPONENT_BOTTOM], PLATES_GROWTH, frame->searched_height),
            .peak = from.sum[COMPONENT_PEAK]};
        if (from.sum[COMPONENT_PIXELS] >= PLATES_CELLS_LEAST && grown.left < grown.right &&
            grown.top < grown.bottom) {
            memcpy(&plate[(*count)++], &grown, sizeof grown);
        }
    }
    return ST_OK;
}

static int compare(const void *a, const void *b) {
    const struct line *one = a, *other = b;
    if (one->peak != other->peak) {
        return one->peak > other->peak ? -1 : 1;
    }
    return one->top != other->top ? one->top - other->top : one->left - other->left;
}

enum status plates_find(const struct model_weights *weights, struct candidates *candidates,
                        const struct boxes_frame *frame, struct boxes *boxes, struct error *err) {
    struct line *plate = (struct line *)(void *)candidates->candidate;
    const double x = (double)frame->width / frame->searched_width,
                 y = (double)frame->height / frame->searched_height;
    uint32_t count = 0;
    (void)weights;
    boxes->count = 0;
    if (candidates->count > CANDIDATES_MAX) {
        return fail(err, ST_LIMIT, "more than %d places of the picture look like plates", CANDIDATES_MAX);
    }
    enum status status = grow_all(candidates, frame, plate, &count, err);
    if (status != ST_OK) {
        return status;
    }
    count = lines_join_touching(plate, count);
    if (count > BOXES_MAX) {
        return fail(err, ST_LIMIT, "the picture has more than %d plates", BOXES_MAX);
    }
    sort_items(plate, count, sizeof *plate, compare);
    for (uint32_t i = 0; i < count; i++) {
        boxes->box[boxes->count++] = (struct box){.x = plate[i].left * x,
                                                  .y = plate[i].top * y,
                                                  .width = (plate[i].right - plate[i].left) * x,
                                                  .height = (plate[i].bottom - plate[i].top) * y,
                                                  .score = network_probability(plate[i].peak)};
    }
    return ST_OK;
}
