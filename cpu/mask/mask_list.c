/* SPDX-License-Identifier: MIT */
#include "cpu/mask/mask_list.h"

#include <string.h>

#include "core/deadline.h"
#include "core/numbers.h"

enum {
    ROWS = 16, /* of a rectangle at most, so that blocks of threads have about the same work */
    WORD_BITS = 64,
    /* Blocks of 8 pixels across the widest picture. */
    WORDS = (MASK_PLAN_SIDE_MAX + 1) / MASK_PLAN_BLOCK / WORD_BITS,
};

/* What becomes of the spans of one region. */
struct spans {
    struct mask_list *list;
    const struct image_shape *shape;
    uint16_t region;
    bool full; /* the list has no more room */
    /* for whole blocks */
    uint32_t width, height; /* of a block */
    uint32_t row;           /* of blocks, whose blocks are marked */
    uint64_t marked[WORDS];
};

static void append(struct spans *spans, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
    struct mask_list *list = spans->list;
    spans->full = list->count == list->room;
    if (!spans->full) {
        list->rect[list->count++] =
            (struct mask_plan_rect){(uint16_t)x0, (uint16_t)y0, (uint16_t)x1, (uint16_t)y1, spans->region, 0};
    }
}

/* Adds a span as it is, to the last rectangle where it continues that. */
static void add_span(void *context, uint32_t y, uint32_t from, uint32_t to) {
    struct spans *spans = context;
    struct mask_list *list = spans->list;
    struct mask_plan_rect *last = list->count ? &list->rect[list->count - 1] : NULL;
    bool continues = last && last->region == spans->region && last->y1 == y && y % ROWS != 0 &&
                     last->x0 == from && last->x1 == to;
    if (continues) {
        last->y1++;
    } else {
        append(spans, from, y, to, y + 1);
    }
}

static bool is_marked(const struct spans *spans, uint32_t block) {
    return spans->marked[block / WORD_BITS] >> block % WORD_BITS & 1;
}

/* Appends the runs of marked blocks and unmarks them. */
static void flush(struct spans *spans) {
    const struct image_shape *shape = spans->shape;
    uint32_t blocks = (shape->width + spans->width - 1) / spans->width;
    uint32_t y0 = spans->row * spans->height, y1 = min_u32(y0 + spans->height, shape->height);
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t first = block;
        while (block < blocks && is_marked(spans, block)) {
            block++;
        }
        if (block > first) {
            append(spans, first * spans->width, y0, min_u32(block * spans->width, shape->width), y1);
        }
    }
    memset(spans->marked, 0, sizeof spans->marked);
}

/* Marks the blocks of a span. */
static void mark_span(void *context, uint32_t y, uint32_t from, uint32_t to) {
    struct spans *spans = context;
    if (y / spans->height != spans->row) {
        flush(spans);
        spans->row = y / spans->height;
    }
    for (uint32_t block = from / spans->width; block * spans->width < to; block++) {
        spans->marked[block / WORD_BITS] |= UINT64_C(1) << block % WORD_BITS;
    }
}

enum status mask_list(struct mask_list *list, const struct region_set *set, const struct image_shape *shape,
                      const struct mask_options *options, bool whole, struct mask_report *report,
                      struct error *err) {
    const struct mask_shape_size size = {shape->width, shape->height};
    enum mask_rule rule = mask_rule_of(options);
    struct spans spans = {.list = list, .shape = shape};
    mask_plan_grid(shape, &spans.width, &spans.height);
    list->count = 0;
    if (shape->width > MASK_PLAN_SIDE_MAX || shape->height > MASK_PLAN_SIDE_MAX) {
        return fail(err, ST_UNSUPPORTED, "the picture is too large for a list of its regions");
    }
    for (uint32_t i = 0; i < set->count && !spans.full; i++) {
        enum status status = deadline_check(options->deadline_ns, err);
        if (status != ST_OK) {
            return status;
        }
        spans.region = (uint16_t)i;
        struct mask_rect drawn = mask_shape_spans(&size, set, i, rule, whole ? mark_span : add_span, &spans);
        if (whole) {
            flush(&spans);
        }
        report->place[i] = (uint8_t)mask_place_of(&size, set, i, drawn);
    }
    return spans.full
               ? fail(err, ST_UNSUPPORTED, "the regions have more than %u rectangles", (unsigned)list->room)
               : ST_OK;
}
