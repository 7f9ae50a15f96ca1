/* SPDX-License-Identifier: MIT
 * Regions from elsewhere, and the places of all regions in a picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filters/argument/region.h"

void region_lend(struct region_set *set, struct region_room *room) {
    room->first = set->count;
    room->numbers = 0;
    set->room = room;
}

enum status region_add(struct region_set *set, const struct region *region, const double *number,
                       struct error *err) {
    struct region_room *room = set->room;
    if (set->count >= REGIONS_MAX) {
        return fail(err, ST_LIMIT, "there are more than %d regions", REGIONS_MAX);
    }
    if (room->numbers + region->count > REGION_ROOM_NUMBERS_MAX) {
        return fail(err, ST_LIMIT, "the regions have more than %d numbers", REGION_ROOM_NUMBERS_MAX);
    }
    struct region *added = &room->region[set->count++ - room->first];
    *added = *region;
    added->first = (uint16_t)room->numbers;
    memcpy(room->number + room->numbers, number, region->count * sizeof *number);
    room->numbers += region->count;
    return ST_OK;
}

struct region_mark region_mark(const struct region_set *set) {
    return (struct region_mark){set->count, set->room ? set->room->numbers : 0, set->room};
}

void region_return(struct region_set *set, const struct region_mark *mark) {
    set->count = mark->count;
    set->room = mark->room;
    if (set->room) {
        set->room->numbers = mark->room_numbers;
    }
}

const struct region *region_get(const struct region_set *set, uint32_t index) {
    const struct region_room *room = set->room;
    return room && index >= room->first ? &room->region[index - room->first] : &set->region[index];
}

const char *region_name(const struct region_set *set, uint32_t index, char name[REGION_NAME_MAX]) {
    const struct region *region = region_get(set, index);
    switch ((enum region_source)region->source) {
    case REGION_LISTED:
        snprintf(name, REGION_NAME_MAX, "regions: entry %u", region->entry);
        return name;
    case REGION_FOUND:
        snprintf(name, REGION_NAME_MAX, "box %u that was found", region->entry);
        return name;
    case REGION_GIVEN:
        break;
    }
    snprintf(name, REGION_NAME_MAX, "region %u", index + 1);
    return name;
}

const char *region_parameter(const struct region_set *set, uint32_t index) {
    static const char *const names[] = {
        [REGION_GIVEN] = "region", [REGION_LISTED] = "regions", [REGION_FOUND] = "detect"};
    return names[region_get(set, index)->source];
}

double region_pixels(double number, enum region_unit unit, uint32_t side) {
    static const double whole[] = {[REGION_PX] = 0, [REGION_PERCENT] = 100, [REGION_RATIO] = 1};
    return unit == REGION_PX ? number : number * side / whole[unit];
}

/* Number i of the region as pixels of a side of the upright picture. */
static double in_pixels(const struct region_set *set, const struct region *region, unsigned i,
                        uint32_t side) {
    unsigned at = region->first + i;
    bool given = region->source == REGION_GIVEN;
    int unit = !given ? region->unit : set->percent[at] ? REGION_PERCENT : set->unit;
    double number = given ? set->number[at] : set->room->number[at];
    return region_pixels(number, (enum region_unit)unit, side);
}

static double snap(double pixels) {
    return floor(pixels * 65536 + 0.5) / 65536;
}

/* The picture that the caller has, and the upright one. */
struct sides {
    uint32_t width, height, upright_width, upright_height;
};

static struct sides sides_of(const struct region_set *set, uint32_t width, uint32_t height) {
    bool lies = set->orientation >= 5; /* width and height are exchanged */
    return (struct sides){width, height, lies ? height : width, lies ? width : height};
}

/* The stored place of a place of the upright picture. */
static struct region_point turn_point(struct region_point at, uint8_t orientation,
                                      const struct sides *sides) {
    double width = sides->width, height = sides->height;
    switch (orientation) {
    case 2:
        return (struct region_point){width - at.x, at.y};
    case 3:
        return (struct region_point){width - at.x, height - at.y};
    case 4:
        return (struct region_point){at.x, height - at.y};
    case 5:
        return (struct region_point){at.y, at.x};
    case 6:
        return (struct region_point){at.y, height - at.x};
    case 7:
        return (struct region_point){width - at.y, height - at.x};
    case 8:
        return (struct region_point){width - at.y, at.x};
    default:
        return at;
    }
}

unsigned region_points(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                       struct region_point point[REGION_POINTS_MAX]) {
    const struct region *region = region_get(set, index);
    const struct sides sides = sides_of(set, width, height);
    unsigned count = region->count / 2u;
    for (unsigned k = 0; k < count; k++) {
        struct region_point at = {snap(in_pixels(set, region, 2 * k, sides.upright_width)),
                                  snap(in_pixels(set, region, 2 * k + 1, sides.upright_height))};
        point[k] = turn_point(at, set->orientation, &sides);
    }
    return count;
}

static struct region_box box_around(const struct region_point *point, unsigned count) {
    struct region_box box = {point[0].x, point[0].y, point[0].x, point[0].y};
    for (unsigned k = 1; k < count; k++) {
        box.x0 = fmin(box.x0, point[k].x);
        box.y0 = fmin(box.y0, point[k].y);
        box.x1 = fmax(box.x1, point[k].x);
        box.y1 = fmax(box.y1, point[k].y);
    }
    return box;
}

struct region_box region_box(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height) {
    const struct region *region = region_get(set, index);
    struct region_point point[REGION_POINTS_MAX];
    if (region->form == REGION_POLYGON) {
        return box_around(point, region_points(set, index, width, height, point));
    }
    const struct sides sides = sides_of(set, width, height);
    double x = in_pixels(set, region, 0, sides.upright_width);
    double y = in_pixels(set, region, 1, sides.upright_height);
    double w = in_pixels(set, region, 2, sides.upright_width);
    double h = in_pixels(set, region, 3, sides.upright_height);
    struct region_point from = {snap(x), snap(y)}, to = {snap(x + w), snap(y + h)};
    point[0] = turn_point(from, set->orientation, &sides);
    point[1] = turn_point(to, set->orientation, &sides);
    return box_around(point, 2);
}

void region_turn(struct region_set *set, uint8_t orientation) {
    set->orientation = orientation;
}

/* A pixel, with room for 33.3% of three. */
static const double least_side = 0.99;

static enum status check_size(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                              struct error *err) {
    struct region_box box = region_box(set, index, width, height);
    char name[REGION_NAME_MAX];
    double wide = box.x1 - box.x0, high = box.y1 - box.y0;
    bool in_first_pixel = box.x1 <= 1 && box.y1 <= 1 && (width > 1 || height > 1);
    if (box.x0 >= width || box.y0 >= height || box.x1 <= 0 || box.y1 <= 0) {
        return fail_argument(err, region_parameter(set, index),
                             "%s lies off the picture, which has %ux%u pixels, and would hide nothing",
                             region_name(set, index, name), width, height);
    }
    if (wide >= least_side && high >= least_side && !in_first_pixel) {
        return ST_OK;
    }
    bool given = region_get(set, index)->source == REGION_GIVEN;
    return fail_argument(err, region_parameter(set, index),
                         "%s is %.3g x %.3g pixels of %ux%u; to hide something it must be 1 pixel wide "
                         "and high, and more than the first pixel%s",
                         region_name(set, index, name), wide, high, width, height,
                         given ? ". Numbers are pixels; for parts of the picture write % behind them, "
                                 "unit=percent or unit=ratio"
                               : "");
}

enum status region_check_size(const struct region_set *set, uint32_t width, uint32_t height,
                              struct error *err) {
    enum status status = ST_OK;
    for (uint32_t i = 0; i < set->count && status == ST_OK; i++) {
        const bool found = region_get(set, i)->source == REGION_FOUND;
        status = found ? ST_OK : check_size(set, i, width, height, err);
    }
    return status;
}
