/* SPDX-License-Identifier: MIT */
#include "filters/argument/region.h"

#include <math.h>
#include <string.h>

#include "filters/argument/value.h"

const char *const region_unit_names[] = {
    [REGION_PX] = "px", [REGION_PERCENT] = "percent", [REGION_RATIO] = "ratio", NULL};

/* The number that is the whole width or height; for pixels the largest allowed one. */
static const double unit_most[] = {
    [REGION_PX] = REGION_PIXELS_MAX, [REGION_PERCENT] = 100, [REGION_RATIO] = 1};

/* A region during parsing; it joins the set once it is valid. */
struct draft {
    const char *text; /* the whole argument, for messages */
    enum region_form form;
    unsigned count;
    double number[2 * REGION_POINTS_MAX];
    bool percent[2 * REGION_POINTS_MAX];
};

static const struct {
    const char *prefix;
    const char *name;
    unsigned minimum, maximum; /* numbers */
} forms[] = {
    [REGION_RECTANGLE] = {"", "a rectangle has 4 numbers", 4, 4},
    [REGION_ELLIPSE] = {"ellipse:", "an ellipse has 4 numbers", 4, 4},
    [REGION_POLYGON] = {"polygon:", "a polygon has 3 to 64 points of 2 numbers", 2 * REGION_POINTS_MIN,
                        2 * REGION_POINTS_MAX},
};

/* `rule` completes "region is VALUE, ". */
static enum status refuse(const struct draft *draft, const char *rule, struct error *err) {
    char value[VALUE_QUOTE_MAX];
    return fail_argument(err, "region", "region is %s, %s", value_quote(draft->text, value), rule);
}

/* The same for one of its numbers: "region is VALUE, but NUMBER RULE". */
static enum status refuse_number(const struct draft *draft, const char *number, const char *rule,
                                 struct error *err) {
    char value[VALUE_QUOTE_MAX], part[VALUE_QUOTE_MAX];
    return fail_argument(err, "region", "region is %s, but %s %s", value_quote(draft->text, value),
                         value_quote(number, part), rule);
}

/* Finds the form and the count of numbers; *list is their start. */
static enum status read_form(struct draft *draft, const char **list, struct error *err) {
    const char *colon = strchr(draft->text, ':');
    *list = colon ? colon + 1 : draft->text;
    size_t length = (size_t)(*list - draft->text);
    draft->form = REGION_RECTANGLE;
    while (strlen(forms[draft->form].prefix) != length ||
           strncmp(draft->text, forms[draft->form].prefix, length) != 0) {
        if (draft->form == REGION_POLYGON) {
            return refuse(draft, "it must be x,y,w,h, ellipse:x,y,w,h or polygon:x1,y1,x2,y2,...", err);
        }
        draft->form++;
    }
    draft->count = 1;
    for (const char *at = *list; *at; at++) {
        draft->count += *at == ',';
    }
    bool whole = draft->form != REGION_POLYGON || draft->count % 2 == 0;
    if (!whole || draft->count < forms[draft->form].minimum || draft->count > forms[draft->form].maximum) {
        char value[VALUE_QUOTE_MAX];
        return fail_argument(err, "region", "region is %s, but %s, not %u", value_quote(draft->text, value),
                             forms[draft->form].name, **list ? draft->count : 0);
    }
    return ST_OK;
}

static bool is_size(const struct draft *draft, unsigned i) {
    return draft->form != REGION_POLYGON && i >= 2;
}

/* Parses number i, the first `length` characters of `text`. */
static enum status read_number(struct draft *draft, unsigned i, const char *text, size_t length,
                               struct error *err) {
    char number[64] = "", part[64] = "";
    size_t kept = length < sizeof part ? length : sizeof part - 1;
    memcpy(part, text, kept);
    draft->percent[i] = kept > 0 && part[kept - 1] == '%';
    memcpy(number, part, kept - draft->percent[i]);
    double *value = &draft->number[i];
    if (kept < length || !value_number(number, true, value)) {
        return refuse_number(
            draft, part, "must be a decimal number of at most 63 characters, in pixels or with a % behind",
            err);
    }
    if (is_size(draft, i) && *value <= 0) {
        return refuse_number(draft, part, "is empty: width and height must be above 0", err);
    }
    if (*value < 0 || *value > (draft->percent[i] ? 100 : REGION_PIXELS_MAX)) {
        return refuse_number(draft, part, "is outside, it must be from 0 to 1000000 or from 0% to 100%", err);
    }
    return ST_OK;
}

static enum status read_numbers(struct draft *draft, const char *list, struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < draft->count && status == ST_OK; i++) {
        size_t length = strcspn(list, ",");
        status = read_number(draft, i, list, length, err);
        list += length + 1;
    }
    return status;
}

/* Binary rounding may take 33.3% and 66.7% slightly above 100%; the whole is 1 here. */
static const double whole_margin = 1e-11;

static bool above_whole(const struct draft *draft, unsigned axis) {
    return draft->percent[axis] && draft->percent[axis + 2] &&
           draft->number[axis] + draft->number[axis + 2] > 100 * (1 + whole_margin);
}

/* Whether all x have one unit and all y have one. */
static bool same_units(const struct draft *draft) {
    for (unsigned i = 2; i < draft->count; i++) {
        if (draft->percent[i] != draft->percent[i % 2]) {
            return false;
        }
    }
    return true;
}

/* Whether all points lie on one line, except for the rounding of decimal fractions. Units of an axis only
 * stretch the picture. Mixed units depend on its size and are checked when drawing. */
static bool on_one_line(const struct draft *draft) {
    const double *p = draft->number;
    double far_x = 0, far_y = 0; /* the point farthest from the first, relative to it */
    for (unsigned i = 2; i < draft->count; i += 2) {
        double x = p[i] - p[0], y = p[i + 1] - p[1];
        if (x * x + y * y > far_x * far_x + far_y * far_y) {
            far_x = x, far_y = y;
        }
    }
    for (unsigned i = 2; i < draft->count; i += 2) {
        double a = far_x * (p[i + 1] - p[1]), b = far_y * (p[i] - p[0]);
        if (fabs(a - b) > 1e-12 * (fabs(a) + fabs(b))) {
            return false;
        }
    }
    return true;
}

static enum status check(const struct draft *draft, const struct region_set *set, struct error *err) {
    if (draft->form == REGION_POLYGON) {
        if (same_units(draft) && on_one_line(draft)) {
            return refuse(draft, "but it is empty: its points must not all lie on one line", err);
        }
    } else if (above_whole(draft, 0) || above_whole(draft, 1)) {
        return refuse(draft, "but it is outside: x + w and y + h must be at most 100%", err);
    }
    if (set->numbers + draft->count > REGION_NUMBERS_MAX) {
        return refuse(draft, "but all regions together must have at most 1024 numbers", err);
    }
    return ST_OK;
}

enum status region_parse(struct region_set *set, const char *text, struct error *err) {
    struct draft draft = {.text = text};
    const char *list;
    if (set->count >= REGIONS_MAX) {
        return refuse(&draft, "but there must be at most 64 regions", err);
    }
    enum status status = read_form(&draft, &list, err);
    if (status == ST_OK) {
        status = read_numbers(&draft, list, err);
    }
    if (status == ST_OK) {
        status = check(&draft, set, err);
    }
    if (status != ST_OK) {
        return status;
    }
    set->region[set->count++] =
        (struct region){(uint16_t)draft.form, (uint16_t)set->numbers, (uint16_t)draft.count};
    memcpy(set->number + set->numbers, draft.number, draft.count * sizeof draft.number[0]);
    memcpy(set->percent + set->numbers, draft.percent, draft.count * sizeof draft.percent[0]);
    set->numbers += draft.count;
    return ST_OK;
}

static enum region_unit unit_of(const struct region_set *set, unsigned i) {
    return set->percent[i] ? REGION_PERCENT : (enum region_unit)set->unit;
}

static enum status check_number(const struct region_set *set, uint32_t index, unsigned i, struct error *err) {
    double most = unit_most[unit_of(set, i)];
    if (set->number[i] <= most) {
        return ST_OK;
    }
    return fail_argument(err, "region",
                         "region %u has the number %.10g, but with unit=%s it must be from 0 to %g",
                         index + 1, set->number[i], region_unit_names[set->unit], most);
}

/* Number i and its partner, x and w or y and h, as parts of the whole side; not for pixels. */
static enum status check_sum(const struct region_set *set, uint32_t index, unsigned i, struct error *err) {
    enum region_unit start = unit_of(set, i), size = unit_of(set, i + 2);
    if (start == REGION_PX || size == REGION_PX ||
        set->number[i] / unit_most[start] + set->number[i + 2] / unit_most[size] <= 1 + whole_margin) {
        return ST_OK;
    }
    return fail_argument(err, "region", "region %u is outside: x + w and y + h must be at most %s", index + 1,
                         set->unit == REGION_RATIO ? "1" : "100%");
}

enum status region_check(const struct region_set *set, struct error *err) {
    for (uint32_t index = 0; index < set->count; index++) {
        const struct region *region = &set->region[index];
        enum status status = ST_OK;
        for (unsigned i = 0; i < region->count && status == ST_OK; i++) {
            status = check_number(set, index, region->first + i, err);
        }
        for (unsigned axis = 0; axis < 2 && region->form != REGION_POLYGON && status == ST_OK; axis++) {
            status = check_sum(set, index, region->first + axis, err);
        }
        if (status != ST_OK) {
            return status;
        }
    }
    return ST_OK;
}

/* A pixel, with room for 33.3% of three. */
static const double least_side = 0.99;

static enum status check_size(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                              struct error *err) {
    struct region_box box = region_box(set, index, width, height);
    double wide = box.x1 - box.x0, high = box.y1 - box.y0;
    bool in_first_pixel = box.x1 <= 1 && box.y1 <= 1 && (width > 1 || height > 1);
    if (box.x0 >= width || box.y0 >= height) {
        return fail_argument(err, "region",
                             "region %u lies off the picture, which has %ux%u pixels, and would hide nothing",
                             index + 1, width, height);
    }
    if (wide >= least_side && high >= least_side && !in_first_pixel) {
        return ST_OK;
    }
    return fail_argument(
        err, "region",
        "region %u is %.3g x %.3g pixels of %ux%u; to hide something it must be 1 pixel wide "
        "and high, and more than the first pixel. Numbers are pixels; for parts of the "
        "picture write %% behind them, unit=percent or unit=ratio",
        index + 1, wide, high, width, height);
}

enum status region_check_size(const struct region_set *set, uint32_t width, uint32_t height,
                              struct error *err) {
    enum status status = ST_OK;
    for (uint32_t i = 0; i < set->count && status == ST_OK; i++) {
        status = check_size(set, i, width, height, err);
    }
    return status;
}

static double in_pixels(const struct region_set *set, unsigned i, uint32_t side) {
    enum region_unit unit = unit_of(set, i);
    return unit == REGION_PX ? set->number[i] : set->number[i] * side / unit_most[unit];
}

static double snap(double pixels) {
    return floor(pixels * 65536 + 0.5) / 65536;
}

unsigned region_points(const struct region_set *set, uint32_t index, uint32_t width, uint32_t height,
                       struct region_point point[REGION_POINTS_MAX]) {
    const struct region *region = &set->region[index];
    unsigned count = region->count / 2u;
    for (unsigned k = 0; k < count; k++) {
        unsigned i = region->first + 2 * k;
        point[k] = (struct region_point){snap(in_pixels(set, i, width)), snap(in_pixels(set, i + 1, height))};
    }
    return count;
}

static struct region_box polygon_box(const struct region_set *set, uint32_t index, uint32_t width,
                                     uint32_t height) {
    struct region_point point[REGION_POINTS_MAX];
    unsigned count = region_points(set, index, width, height, point);
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
    const struct region *region = &set->region[index];
    if (region->form == REGION_POLYGON) {
        return polygon_box(set, index, width, height);
    }
    double x = in_pixels(set, region->first, width);
    double y = in_pixels(set, region->first + 1u, height);
    double w = in_pixels(set, region->first + 2u, width);
    double h = in_pixels(set, region->first + 3u, height);
    return (struct region_box){snap(x), snap(y), snap(x + w), snap(y + h)};
}

/* The stored place of a place of the upright picture; width and height are those of the stored picture. */
static struct region_point turn_point(struct region_point at, uint8_t orientation, double width,
                                      double height) {
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

/* Replaces the numbers of region `index` by those of the turned region, in pixels. */
static void turn_region(struct region_set *set, uint32_t index, uint8_t orientation, uint32_t width,
                        uint32_t height) {
    const struct region *region = &set->region[index];
    bool lies = orientation >= 5;
    uint32_t shown_width = lies ? height : width;
    uint32_t shown_height = lies ? width : height;
    struct region_point point[REGION_POINTS_MAX];
    unsigned count = 2;
    if (region->form == REGION_POLYGON) {
        count = region_points(set, index, shown_width, shown_height, point);
    } else {
        struct region_box box = region_box(set, index, shown_width, shown_height);
        point[0] = (struct region_point){box.x0, box.y0};
        point[1] = (struct region_point){box.x1, box.y1};
    }
    double *number = set->number + region->first;
    for (unsigned k = 0; k < count; k++) {
        point[k] = turn_point(point[k], orientation, width, height);
        number[2 * k] = point[k].x;
        number[2 * k + 1] = point[k].y;
    }
    if (region->form != REGION_POLYGON) {
        number[0] = fmin(point[0].x, point[1].x);
        number[1] = fmin(point[0].y, point[1].y);
        number[2] = fabs(point[1].x - point[0].x);
        number[3] = fabs(point[1].y - point[0].y);
    }
    memset(set->percent + region->first, 0, region->count * sizeof set->percent[0]);
}

void region_turn(struct region_set *set, uint8_t orientation, uint32_t width, uint32_t height) {
    for (uint32_t i = 0; i < set->count && orientation != 1; i++) {
        turn_region(set, i, orientation, width, height);
    }
    set->unit = orientation != 1 ? REGION_PX : set->unit;
}
