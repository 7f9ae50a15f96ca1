/* SPDX-License-Identifier: MIT */
#include "cpu/mask/mask.h"

#include <string.h>

#include "core/deadline.h"
#include "core/numbers.h"
#include "cpu/bands.h"
#include "cpu/mask/mask_shape.h"
#include "filters/mask/mask_plan.h"

static bool rect_empty(struct mask_rect rect) {
    return rect.y1 == 0;
}

static struct mask_rect rect_whole(const struct image *mask) {
    return (struct mask_rect){0, 0, mask->width, mask->height};
}

static struct mask_rect rect_union(struct mask_rect a, struct mask_rect b) {
    if (rect_empty(a) || rect_empty(b)) {
        return rect_empty(a) ? b : a;
    }
    return (struct mask_rect){min_u32(a.x0, b.x0), min_u32(a.y0, b.y0), max_u32(a.x1, b.x1),
                              max_u32(a.y1, b.y1)};
}

static void fill_rect(const struct image *mask, struct mask_rect rect, uint8_t value) {
    for (uint32_t y = rect.y0; y < rect.y1; y++) {
        memset(plane_row(&mask->plane[0], y) + rect.x0, value, rect.x1 - rect.x0);
    }
}

void mask_clear(const struct image *mask, struct mask_rect rect) {
    fill_rect(mask, rect, 0);
}

/* Start of the block that holds `at`; 0 or less for the first block. */
static int64_t block_start(int64_t at, int64_t side, int64_t first) {
    int64_t into = (at - first) % side;
    return at - (into < 0 ? into + side : into);
}

static bool any_inside(const struct image *mask, struct mask_rect rect) {
    for (uint32_t y = rect.y0; y < rect.y1; y++) {
        if (memchr(plane_row(&mask->plane[0], y) + rect.x0, 255, rect.x1 - rect.x0)) {
            return true;
        }
    }
    return false;
}

static struct mask_rect block_at(const struct image *mask, int64_t x, int64_t y, int64_t width,
                                 int64_t height) {
    return (struct mask_rect){x < 0 ? 0 : (uint32_t)x, y < 0 ? 0 : (uint32_t)y,
                              min_u32(mask->width, (uint32_t)(x + width)),
                              min_u32(mask->height, (uint32_t)(y + height))};
}

enum { MARGIN = 1 }; /* marks margins while blocks are drawn: neither 0 nor inside */

/* Marks the pixels around a block that are not inside yet. Returns the block with its margin. */
static struct mask_rect mark_margin(const struct image *mask, struct mask_rect block,
                                    const struct mask_grid *grid) {
    if (grid->margin_x == 0 && grid->margin_y == 0) {
        return block;
    }
    struct mask_rect outer = {
        block.x0 - min_u32(block.x0, grid->margin_x), block.y0 - min_u32(block.y0, grid->margin_y),
        min_u32(mask->width, block.x1 + grid->margin_x), min_u32(mask->height, block.y1 + grid->margin_y)};
    for (uint32_t y = outer.y0; y < outer.y1; y++) {
        uint8_t *row = plane_row(&mask->plane[0], y);
        bool beside = y >= block.y0 && y < block.y1;
        for (uint32_t x = outer.x0; x < outer.x1; x = beside && x + 1 == block.x0 ? block.x1 : x + 1) {
            row[x] = row[x] ? row[x] : MARGIN;
        }
    }
    return outer;
}

static void take_margins(const struct image *mask, struct mask_rect rect) {
    for (uint32_t y = rect.y0; y < rect.y1; y++) {
        uint8_t *at = plane_row(&mask->plane[0], y) + rect.x0, *end = at + (rect.x1 - rect.x0);
        while (at < end && (at = memchr(at, MARGIN, (size_t)(end - at)))) {
            *at++ = 255;
        }
    }
}

/* Rounds the pixels inside `drawn` out to whole blocks with their margins. No pixel is inside elsewhere. */
static struct mask_rect grow(const struct image *mask, struct mask_rect drawn, const struct mask_grid *grid) {
    int64_t width = max_u32(grid->width, 1), height = max_u32(grid->height, 1);
    struct mask_rect grown = {0};
    if (rect_empty(drawn) || (width == 1 && height == 1 && grid->margin_x == 0 && grid->margin_y == 0)) {
        return drawn;
    }
    for (int64_t y = block_start(drawn.y0, height, grid->top); y < drawn.y1; y += height) {
        for (int64_t x = block_start(drawn.x0, width, grid->left); x < drawn.x1; x += width) {
            struct mask_rect block = block_at(mask, x, y, width, height);
            if (any_inside(mask, block)) {
                fill_rect(mask, block, 255);
                grown = rect_union(grown, mark_margin(mask, block, grid));
            }
        }
    }
    take_margins(mask, grown);
    return grown;
}

static void invert(const struct image *mask) {
    for (uint32_t y = 0; y < mask->height; y++) {
        uint8_t *row = plane_row(&mask->plane[0], y);
        for (uint32_t x = 0; x < mask->width; x++) {
            row[x] = (uint8_t)~row[x];
        }
    }
}

void mask_measure(const struct image *mask, struct mask_rect within, struct mask_report *report) {
    report->bounds = (struct mask_rect){0};
    report->covered = 0;
    for (uint32_t y = within.y0; y < within.y1; y++) {
        const uint8_t *row = plane_row(&mask->plane[0], y);
        uint32_t count = 0;
        for (uint32_t x = within.x0; x < within.x1; x++) {
            count += row[x] != 0;
        }
        if (count == 0) {
            continue;
        }
        uint32_t first = within.x0, last = within.x1;
        while (first < last && row[first] == 0) {
            first++;
        }
        while (first < last && row[last - 1] == 0) {
            last--;
        }
        report->bounds = rect_union(report->bounds, (struct mask_rect){first, y, last, y + 1});
        report->covered += count;
    }
}

/* Makes weights 0 or 255: the least one that is inside is `least_inside`. */
static void harden(const struct image *mask, uint8_t least_inside) {
    for (uint32_t y = 0; y < mask->height; y++) {
        uint8_t *row = plane_row(&mask->plane[0], y);
        for (uint32_t x = 0; x < mask->width; x++) {
            row[x] = row[x] >= least_inside ? 255 : 0;
        }
    }
}

/* Prepares what the regions are drawn over. Returns the rectangle that may have pixels inside. */
static struct mask_rect begin_mask(const struct image *mask, const struct mask_options *options) {
    if (!options->over) {
        mask_clear(mask, rect_whole(mask));
        return (struct mask_rect){0};
    }
    if (options->outward) {
        harden(mask, options->invert ? 255 : 1);
    }
    return rect_whole(mask);
}

enum mask_place mask_place_of(const struct mask_shape_size *size, const struct region_set *set,
                              uint32_t index, struct mask_rect drawn) {
    struct region_box box = region_box(set, index, size->width, size->height);
    /* A region that was turned can lie across the left and upper borders, too. */
    bool inside = box.x0 >= 0 && box.y0 >= 0 && box.x1 <= size->width && box.y1 <= size->height;
    return rect_empty(drawn) ? MASK_OFF : inside ? MASK_WHOLE : MASK_CUT;
}

enum mask_rule mask_rule_of(const struct mask_options *options) {
    return !options->outward ? MASK_CENTRE : options->invert ? MASK_WITHIN : MASK_TOUCHED;
}

enum status mask_draw(const struct image *mask, const struct region_set *set,
                      const struct mask_options *options, struct mask_report *report, struct error *err) {
    const struct mask_shape_size size = {mask->width, mask->height};
    enum mask_rule rule = mask_rule_of(options);
    struct mask_rect drawn = begin_mask(mask, options);
    *report = (struct mask_report){0};
    for (uint32_t i = 0; i < set->count; i++) {
        enum status status = deadline_check(options->deadline_ns, err);
        if (status != ST_OK) {
            return status;
        }
        struct mask_rect one = mask_shape(mask, set, i, rule);
        report->place[i] = (uint8_t)mask_place_of(&size, set, i, one);
        drawn = rect_union(drawn, one);
    }
    if (options->invert) {
        invert(mask);
        drawn = rect_whole(mask);
    }
    if (options->outward) {
        drawn = grow(mask, drawn, &options->grid);
    }
    mask_measure(mask, drawn, report);
    return ST_OK;
}

struct mask_rect mask_draw_region(const struct image *mask, const struct region_set *set, uint32_t index,
                                  const struct mask_options *options) {
    if (!options->outward) {
        return mask_shape(mask, set, index, MASK_CENTRE);
    }
    return grow(mask, mask_shape(mask, set, index, MASK_TOUCHED), &options->grid);
}

size_t mask_feather_bytes(const struct backend *cpu, const struct image_shape *mask, double feather) {
    struct chain chain;
    enum status status = mask_plan_feather(mask, feather, &chain, NULL);
    return status == ST_OK ? backend_run_bytes(cpu, &chain, mask, 1) : 0;
}

enum status mask_feather(const struct mask_feathering *how, const struct image *mask,
                         const struct image *soft, struct mask_report *report, struct error *err) {
    struct image_shape shape = image_shape(mask);
    struct chain chain;
    const struct chain_run run = {.chain = &chain,
                                  .source = mask,
                                  .target = soft,
                                  .crew = how->crew,
                                  .deadline_ns = how->deadline_ns,
                                  .working = how->working};
    enum status status = mask_plan_feather(&shape, how->feather, &chain, err);
    if (status == ST_OK) {
        status = lane_run(how->lane, &run, NULL, err);
    }
    if (status == ST_OK) {
        mask_measure(soft, rect_whole(soft), report);
    }
    return status;
}

struct restoration {
    const struct image *target, *source, *mask;
};

static void restore_band(const void *context, const struct band *band) {
    const struct restoration *all = context;
    const struct plane *to = &all->target->plane[0], *from = &all->source->plane[0];
    size_t pixel = (size_t)to->channels * (all->target->depth / 8u);
    for (uint32_t y = band->from; y < band->to; y++) {
        const uint8_t *row = plane_row(&all->mask->plane[0], y);
        for (uint32_t x = 0; x < to->width;) {
            uint32_t end = x;
            while (end < to->width && row[end] == 0) {
                end++;
            }
            memcpy(plane_row(to, y) + x * pixel, plane_row(from, y) + x * pixel, (end - x) * pixel);
            x = end + 1;
        }
    }
}

enum status mask_restore(struct crew *crew, int64_t deadline_ns, const struct image *target,
                         const struct image *source, const struct image *mask, struct error *err) {
    const struct restoration all = {target, source, mask};
    const struct pass pass = {.rows = {target->height},
                              .cost = {(uint64_t)target->width * target->plane[0].channels},
                              .band = restore_band,
                              .context = &all,
                              .deadline_ns = deadline_ns};
    return bands_run(crew, bands_seats(crew, &pass, 0), &pass, err);
}
