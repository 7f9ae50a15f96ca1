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

static enum status refuse_full(const struct mask_list *list, struct error *err) {
    return fail(err, ST_UNSUPPORTED, "the regions have more than %u rectangles", (unsigned)list->room);
}

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
    list->count = list->rings = 0;
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
    return spans.full ? refuse_full(list, err) : ST_OK;
}

static void widen(struct mask_rect *around, const struct mask_plan_rect *rect) {
    bool first = around->y1 == 0;
    around->x0 = first ? rect->x0 : min_u32(around->x0, rect->x0);
    around->y0 = first ? rect->y0 : min_u32(around->y0, rect->y0);
    around->x1 = max_u32(around->x1, rect->x1);
    around->y1 = max_u32(around->y1, rect->y1);
}

/* Cuts a ring into rows of blocks. False without room. */
static bool append_ring(struct mask_list *list, uint32_t region, struct mask_rect around,
                        const struct image_shape *shape) {
    uint32_t width, height, y0 = around.y0 - min_u32(around.y0, FILL_RING_WIDTH);
    uint32_t x0 = around.x0 - min_u32(around.x0, FILL_RING_WIDTH);
    uint32_t x1 = min_u32(around.x1 + FILL_RING_WIDTH, shape->width);
    uint32_t end = around.y1 == 0 ? 0 : min_u32(around.y1 + FILL_RING_WIDTH, shape->height);
    mask_plan_grid(shape, &width, &height);
    while (y0 < end) {
        uint32_t y1 = min_u32((y0 / height + 1) * height, end);
        if (list->count + list->rings == list->room) {
            return false;
        }
        list->rect[list->count + list->rings++] = (struct mask_plan_rect){
            (uint16_t)x0, (uint16_t)y0, (uint16_t)x1, (uint16_t)y1, (uint16_t)region, 0};
        y0 = y1;
    }
    return true;
}

enum status mask_list_rings(struct mask_list *list, uint32_t regions, const struct image_shape *shape,
                            struct error *err) {
    struct mask_rect around[MASK_PLAN_REGIONS_MAX + 1] = {0};
    bool fits = true;
    for (uint32_t i = 0; i < list->count; i++) {
        widen(&around[list->rect[i].region], &list->rect[i]);
        widen(&around[regions], &list->rect[i]);
    }
    for (uint32_t i = 0; i <= regions && fits; i++) {
        fits = append_ring(list, i, around[i], shape);
    }
    return fits ? ST_OK : refuse_full(list, err);
}
