/* SPDX-License-Identifier: MIT */
#include "filters/argument/region_keep.h"

#include <math.h>

enum status region_keep_parse(struct region_keep *keep, const char *name, const char *text,
                              struct error *err) {
    if (keep->count == REGION_KEEP_MAX) {
        return fail_argument(err, name, "%s: there are more than %d rectangles", name, REGION_KEEP_MAX);
    }
    struct region_kept *kept = &keep->rectangle[keep->count];
    kept->listed = false;
    enum status status = region_parse_rectangle(name, text, kept->number, kept->percent, err);
    keep->count += status == ST_OK;
    return status;
}

enum status region_keep_add(struct region_keep *keep, const double number[4], enum region_unit unit,
                            struct error *err) {
    if (keep->count == REGION_KEEP_MAX) {
        return fail(err, ST_LIMIT, "there are more than %d kept rectangles", REGION_KEEP_MAX);
    }
    struct region_kept *kept = &keep->rectangle[keep->count++];
    *kept = (struct region_kept){.listed = true, .unit = (uint8_t)unit};
    for (unsigned i = 0; i < 4; i++) {
        kept->number[i] = number[i];
    }
    return ST_OK;
}

bool region_keep_has_given(const struct region_keep *keep) {
    bool given = false;
    for (uint32_t i = 0; i < keep->count; i++) {
        given = given || !keep->rectangle[i].listed;
    }
    return given;
}

enum status region_keep_check(const struct region_keep *keep, const char *name, enum region_unit unit,
                              struct error *err) {
    enum status status = ST_OK;
    for (uint32_t i = 0; i < keep->count && status == ST_OK; i++) {
        const struct region_kept *kept = &keep->rectangle[i];
        if (!kept->listed) {
            status = region_check_rectangle(name, i, kept->number, kept->percent, unit, err);
        }
    }
    return status;
}

/* Number i in pixels of the upright picture. */
static double in_pixels(const struct region_kept *kept, unsigned i, enum region_unit unit, uint32_t side) {
    const enum region_unit own = kept->listed       ? (enum region_unit)kept->unit
                                 : kept->percent[i] ? REGION_PERCENT
                                                    : unit;
    return region_pixels(kept->number[i], own, side);
}

/* The rectangle in pixels of the upright picture. */
static struct region_box place_of(const struct region_kept *kept, enum region_unit unit, uint32_t width,
                                  uint32_t height) {
    const double x = in_pixels(kept, 0, unit, width), y = in_pixels(kept, 1, unit, height);
    return (struct region_box){x, y, x + in_pixels(kept, 2, unit, width),
                               y + in_pixels(kept, 3, unit, height)};
}

/* A pixel, with room for 33.3% of three. */
static const double least_side = 0.99;

enum status region_keep_check_size(const struct region_keep *keep, const char *name, enum region_unit unit,
                                   uint32_t width, uint32_t height, struct error *err) {
    for (uint32_t i = 0; i < keep->count; i++) {
        const struct region_box at = place_of(&keep->rectangle[i], unit, width, height);
        if (at.x0 >= width || at.y0 >= height) {
            return fail_argument(err, name, "%s %u lies off the picture, which has %ux%u pixels", name, i + 1,
                                 width, height);
        }
        if (at.x1 - at.x0 < least_side || at.y1 - at.y0 < least_side) {
            return fail_argument(err, name,
                                 "%s %u is %.3g x %.3g pixels of %ux%u, it must be 1 pixel wide and high. "
                                 "Numbers are pixels; for parts of the picture write %% behind them, or a "
                                 "unit",
                                 name, i + 1, at.x1 - at.x0, at.y1 - at.y0, width, height);
        }
    }
    return ST_OK;
}

/* A thousandth of a pixel is taken for the rounding of decimal fractions. */
static const double rounding = 0.001;

double region_keep_match(const struct region_keep *keep, uint32_t index, enum region_unit unit,
                         uint32_t width, uint32_t height, const double number[4]) {
    const struct region_box at = place_of(&keep->rectangle[index], unit, width, height);
    const double wide = fmin(at.x1, number[0] + number[2]) - fmax(at.x0, number[0]) + rounding;
    const double high = fmin(at.y1, number[1] + number[3]) - fmax(at.y0, number[1]) + rounding;
    const double found = number[2] * number[3], given = (at.x1 - at.x0) * (at.y1 - at.y0);
    const bool named = wide > 0 && high > 0 && wide * high >= found / 2 && found >= given / 3;
    return named ? wide * high / (found + given - wide * high) : 0;
}

/* Whole pixels; x1 and y1 are behind the last one. */
struct pixels {
    double x0, y0, x1, y1;
};

/* The whole pixels that lie in rectangle `index`. */
static struct pixels inside(const struct region_keep *keep, uint32_t index, enum region_unit unit,
                            uint32_t width, uint32_t height) {
    const struct region_box at = place_of(&keep->rectangle[index], unit, width, height);
    return (struct pixels){ceil(at.x0 - rounding), ceil(at.y0 - rounding), floor(at.x1 + rounding),
                           floor(at.y1 + rounding)};
}

static bool meet(const struct pixels *a, const struct pixels *b) {
    return fmax(a->x0, b->x0) < fmin(a->x1, b->x1) && fmax(a->y0, b->y0) < fmin(a->y1, b->y1);
}

/* A region that was found, and the set that takes its pieces. */
struct cutting {
    const struct region_keep *keep;
    enum region_unit unit;
    uint32_t width, height;
    const struct region *region;
    struct region_set *set;
    struct error *err;
};

static enum status add(const struct cutting *cutting, const struct pixels *part) {
    const double number[4] = {part->x0, part->y0, part->x1 - part->x0, part->y1 - part->y0};
    struct region region = *cutting->region;
    region.form = REGION_RECTANGLE;
    return region_add(cutting->set, &region, number, cutting->err);
}

/* Adds the part without the kept rectangles from `index` on. The four pieces around a kept rectangle do not
 * overlap, so there are at most as many as the set takes before this ends. */
static enum status cut_from(const struct cutting *cutting, const struct pixels *part, uint32_t index) {
    struct pixels kept = {0};
    if (part->x0 >= part->x1 || part->y0 >= part->y1) {
        return ST_OK;
    }
    for (; index < cutting->keep->count; index++) {
        kept = inside(cutting->keep, index, cutting->unit, cutting->width, cutting->height);
        if (meet(part, &kept)) {
            break;
        }
    }
    if (index == cutting->keep->count) {
        return add(cutting, part);
    }
    const double top = fmax(part->y0, kept.y0), bottom = fmin(part->y1, kept.y1);
    const struct pixels piece[4] = {{part->x0, part->y0, part->x1, top},
                                    {part->x0, bottom, part->x1, part->y1},
                                    {part->x0, top, kept.x0, bottom},
                                    {kept.x1, top, part->x1, bottom}};
    enum status status = ST_OK;
    for (unsigned i = 0; i < 4 && status == ST_OK; i++) {
        status = cut_from(cutting, &piece[i], index + 1);
    }
    return status;
}

enum status region_keep_cut(const struct region_keep *keep, enum region_unit unit, uint32_t width,
                            uint32_t height, const struct region *region, const double number[4],
                            struct region_set *set, struct error *err) {
    const struct cutting cutting = {keep, unit, width, height, region, set, err};
    const struct pixels whole = {fmax(floor(number[0]), 0), fmax(floor(number[1]), 0),
                                 fmin(ceil(number[0] + number[2]), width),
                                 fmin(ceil(number[1] + number[3]), height)};
    bool touched = false;
    for (uint32_t i = 0; i < keep->count && !touched; i++) {
        const struct pixels kept = inside(keep, i, unit, width, height);
        touched = meet(&whole, &kept);
    }
    if (!touched) {
        return region_add(set, region, number, err);
    }
    return cut_from(&cutting, &whole, 0) == ST_OK
               ? ST_OK
               : fail_naming(err, ST_LIMIT, "keep",
                             "what is found, cut around what is kept, is more than %d regions", REGIONS_MAX);
}
