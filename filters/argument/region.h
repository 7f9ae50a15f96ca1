/* SPDX-License-Identifier: MIT
 * Regions of a picture, as the parameter `region` (repeatable) describes them:
 *
 *     x,y,w,h                    a rectangle
 *     ellipse:x,y,w,h            the ellipse that fills that rectangle
 *     polygon:x1,y1,x2,y2,...    3 to 64 points, closed by itself; where it crosses itself, a point is
 *                                inside when the polygon winds around it (non-zero winding)
 *
 * Numbers are decimal. A trailing % makes one a percentage of the width (x and w) or height (y and h) of the
 * displayed (upright) picture, whose top left corner is 0,0. Numbers without it have the unit of the set:
 * pixels, percent, or a ratio of the width or height. They are 0 to 1000000 pixels, 0% to 100%, or 0 to 1; w
 * and h are above 0. Pixels right of or below the picture are allowed, as the size may not be known to the
 * client; cpu/mask/mask.h reports it.
 *
 * A set holds the regions of the parameter in itself. Regions from elsewhere, a list or a detector, are
 * appended to memory that is lent to it. Zero-initialise. A copy shares the lent memory. */
#ifndef BLURD_FILTERS_ARGUMENT_REGION_H
#define BLURD_FILTERS_ARGUMENT_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum {
    REGIONS_MAX = 1024,     /* of a set */
    REGIONS_GIVEN_MAX = 64, /* by the parameter */
    REGION_POINTS_MIN = 3,
    REGION_POINTS_MAX = 64,
    REGION_NUMBERS_MAX = 1024, /* of all regions of the parameter together */
    REGION_ROOM_NUMBERS_MAX = 8192,
    REGION_PIXELS_MAX = 1000000,
};

enum region_form { REGION_RECTANGLE, REGION_ELLIPSE, REGION_POLYGON };

enum region_unit { REGION_PX, REGION_PERCENT, REGION_RATIO };
extern const char *const region_unit_names[]; /* in that order, NULL-terminated */

enum region_source { REGION_GIVEN, REGION_LISTED, REGION_FOUND }; /* the parameter, a list, a detector */

struct region {
    uint8_t form;   /* enum region_form */
    uint8_t count;  /* numbers: x, y, w, h; of a polygon x and y of each point */
    uint8_t source; /* enum region_source */
    uint8_t unit;   /* enum region_unit of its numbers; unused where the parameter gave it */
    uint16_t entry; /* its place in its list, from 1; unused where the parameter gave it */
    uint16_t first; /* index of its first number */
};

/* Memory for regions from elsewhere. */
struct region_room {
    uint32_t first; /* index of its first region in the set */
    uint32_t numbers;
    struct region region[REGIONS_MAX];
    double number[REGION_ROOM_NUMBERS_MAX];
};

struct region_set {
    uint32_t count;
    uint32_t numbers;    /* of the parameter's regions */
    int unit;            /* enum region_unit of numbers without %; may be set at any time */
    uint8_t orientation; /* see region_turn */
    struct region region[REGIONS_GIVEN_MAX];
    double number[REGION_NUMBERS_MAX];
    bool percent[REGION_NUMBERS_MAX];
    struct region_room *room; /* NULL: none is lent */
};

/* Appends the region of `text` (zero-terminated). ST_ARGUMENT names the value and the broken rule and leaves
 * the set unchanged: not a number, a wrong count, empty, outside, a polygon on one line, too many regions or
 * points. No number is clamped. */
enum status region_parse(struct region_set *set, const char *text, struct error *err);

/* Reads the rectangle `text`, the value of the parameter `name`: its numbers, and which are percentages.
 * ST_ARGUMENT as region_parse, and for other shapes. */
enum status region_parse_rectangle(const char *name, const char *text, double number[4], bool percent[4],
                                   struct error *err);

/* As region_check, for one rectangle of a parameter; `index` counts from 0. */
enum status region_check_rectangle(const char *name, uint32_t index, const double number[4],
                                   const bool percent[4], enum region_unit unit, struct error *err);

/* A number of a region as pixels of a side of the upright picture. */
double region_pixels(double number, enum region_unit unit, uint32_t side);

/* Checks all numbers against the unit of the set. ST_ARGUMENT names the region, the number and the allowed
 * range. */
enum status region_check(const struct region_set *set, struct error *err);

/* Whether all points, x and y of each, lie on one line, except for the rounding of decimal fractions. Units
 * of an axis only stretch the picture. */
bool region_is_line(const double *number, unsigned count);

/* Checks regions that must hide something in a displayed picture of this size. ST_ARGUMENT names the first
 * one that is less than a pixel wide or high, inside the first pixel (ratios read as pixels), or off the
 * picture. What was found is not looked at. */
enum status region_check_size(const struct region_set *set, uint32_t width, uint32_t height,
                              struct error *err);

/* Places in pixels, rounded to 1/65536, so that borders that are equal on paper (0.1 + 0.2 and 0.3) are
 * equal. */
struct region_point {
    double x, y;
};
struct region_box {
    double x0, y0, x1, y1;
};

/* The rectangle around region `index`; may be larger than the picture, which has this size. */
struct region_box region_box(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height);

/* Fills the points of polygon `index` and returns their number. */
unsigned region_points(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                       struct region_point point[REGION_POINTS_MAX]);

/* Lends memory of undefined content for region_add. It must outlive the set and its copies; region_parse may
 * not follow. */
void region_lend(struct region_set *set, struct region_room *room);

/* Appends a region from elsewhere; `count` numbers as in struct region, which may lie off the picture.
 * ST_LIMIT when the set or the lent memory is full. */
enum status region_add(struct region_set *set, const struct region *region, const double *number,
                       struct error *err);

/* How far a set is filled. */
struct region_mark {
    uint32_t count, room_numbers;
    struct region_room *room;
};

/* Returns the mark of now; region_return removes what was added since, and lent. */
struct region_mark region_mark(const struct region_set *set);
void region_return(struct region_set *set, const struct region_mark *mark);

const struct region *region_get(const struct region_set *set, uint32_t index);

enum { REGION_NAME_MAX = 40 };

/* Names a region in messages: "region 2", "regions: entry 7", "box 3 that was found". Returns the buffer. */
const char *region_name(const struct region_set *set, uint32_t index, char name[REGION_NAME_MAX]);

/* The parameter at fault when the region is: "region", "regions" or "detect". */
const char *region_parameter(const struct region_set *set, uint32_t index);

/* From now on the functions above take the size of the stored picture, which has this EXIF orientation (1 to
 * 8), and give places in it. The numbers of the set stay those of the upright picture. */
void region_turn(struct region_set *set, uint8_t orientation);

#endif
