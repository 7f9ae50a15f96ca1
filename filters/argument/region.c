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
    const char *name; /* of the parameter */
    const char *text; /* the whole argument, for messages */
    bool rectangle;   /* other shapes are refused */
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

/* `rule` completes "NAME is VALUE, ". */
static enum status refuse(const struct draft *draft, const char *rule, struct error *err) {
    char value[VALUE_QUOTE_MAX];
    return fail_argument(err, draft->name, "%s is %s, %s", draft->name, value_quote(draft->text, value),
                         rule);
}

/* The same for one of its numbers: "NAME is VALUE, but NUMBER RULE". */
static enum status refuse_number(const struct draft *draft, const char *number, const char *rule,
                                 struct error *err) {
    char value[VALUE_QUOTE_MAX], part[VALUE_QUOTE_MAX];
    return fail_argument(err, draft->name, "%s is %s, but %s %s", draft->name,
                         value_quote(draft->text, value), value_quote(number, part), rule);
}

/* Finds the form and the count of numbers; *list is their start. */
static enum status read_form(struct draft *draft, const char **list, struct error *err) {
    const char *colon = strchr(draft->text, ':');
    *list = colon ? colon + 1 : draft->text;
    size_t length = (size_t)(*list - draft->text);
    draft->form = REGION_RECTANGLE;
    while (strlen(forms[draft->form].prefix) != length ||
           strncmp(draft->text, forms[draft->form].prefix, length) != 0) {
        if (draft->rectangle) {
            return refuse(draft, "it must be x,y,w,h", err);
        }
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
        return fail_argument(err, draft->name, "%s is %s, but %s, not %u", draft->name,
                             value_quote(draft->text, value), forms[draft->form].name,
                             **list ? draft->count : 0);
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

bool region_is_line(const double *p, unsigned count) {
    double far_x = 0, far_y = 0; /* the point farthest from the first, relative to it */
    for (unsigned i = 2; i < count; i += 2) {
        double x = p[i] - p[0], y = p[i + 1] - p[1];
        if (x * x + y * y > far_x * far_x + far_y * far_y) {
            far_x = x, far_y = y;
        }
    }
    for (unsigned i = 2; i < count; i += 2) {
        double a = far_x * (p[i + 1] - p[1]), b = far_y * (p[i] - p[0]);
        if (fabs(a - b) > 1e-12 * (fabs(a) + fabs(b))) {
            return false;
        }
    }
    return true;
}

static enum status check(const struct draft *draft, struct error *err) {
    if (draft->form == REGION_POLYGON) {
        /* Mixed units depend on the size of the picture and are checked when drawing. */
        if (same_units(draft) && region_is_line(draft->number, draft->count)) {
            return refuse(draft, "but it is empty: its points must not all lie on one line", err);
        }
    } else if (above_whole(draft, 0) || above_whole(draft, 1)) {
        return refuse(draft, "but it is outside: x + w and y + h must be at most 100%", err);
    }
    return ST_OK;
}

static enum status parse(struct draft *draft, struct error *err) {
    const char *list;
    enum status status = read_form(draft, &list, err);
    if (status == ST_OK) {
        status = read_numbers(draft, list, err);
    }
    return status == ST_OK ? check(draft, err) : status;
}

enum status region_parse(struct region_set *set, const char *text, struct error *err) {
    struct draft draft = {.name = "region", .text = text};
    if (set->count >= REGIONS_GIVEN_MAX) {
        return refuse(&draft, "but there must be at most 64 regions", err);
    }
    enum status status = parse(&draft, err);
    if (status != ST_OK) {
        return status;
    }
    if (set->numbers + draft.count > REGION_NUMBERS_MAX) {
        return refuse(&draft, "but all regions together must have at most 1024 numbers", err);
    }
    set->region[set->count++] = (struct region){
        .form = (uint8_t)draft.form, .count = (uint8_t)draft.count, .first = (uint16_t)set->numbers};
    memcpy(set->number + set->numbers, draft.number, draft.count * sizeof draft.number[0]);
    memcpy(set->percent + set->numbers, draft.percent, draft.count * sizeof draft.percent[0]);
    set->numbers += draft.count;
    return ST_OK;
}

enum status region_parse_rectangle(const char *name, const char *text, double number[4], bool percent[4],
                                   struct error *err) {
    struct draft draft = {.name = name, .text = text, .rectangle = true};
    enum status status = parse(&draft, err);
    for (unsigned i = 0; i < 4 && status == ST_OK; i++) {
        number[i] = draft.number[i];
        percent[i] = draft.percent[i];
    }
    return status;
}

/* The numbers of a region of a parameter. */
struct given {
    const char *name; /* of the parameter */
    uint32_t index;
    const double *number;
    const bool *percent;
    enum region_unit unit;
};

static enum region_unit unit_of(const struct given *given, unsigned i) {
    return given->percent[i] ? REGION_PERCENT : given->unit;
}

static enum status check_number(const struct given *given, unsigned i, struct error *err) {
    double most = unit_most[unit_of(given, i)];
    if (given->number[i] <= most) {
        return ST_OK;
    }
    return fail_argument(err, given->name,
                         "%s %u has the number %.10g, but with unit=%s it must be from 0 to %g", given->name,
                         given->index + 1, given->number[i], region_unit_names[given->unit], most);
}

/* Number i and its partner, x and w or y and h, as parts of the whole side; not for pixels. */
static enum status check_sum(const struct given *given, unsigned i, struct error *err) {
    enum region_unit start = unit_of(given, i), size = unit_of(given, i + 2);
    if (start == REGION_PX || size == REGION_PX ||
        given->number[i] / unit_most[start] + given->number[i + 2] / unit_most[size] <= 1 + whole_margin) {
        return ST_OK;
    }
    return fail_argument(err, given->name, "%s %u is outside: x + w and y + h must be at most %s",
                         given->name, given->index + 1, given->unit == REGION_RATIO ? "1" : "100%");
}

static enum status check_given(const struct given *given, enum region_form form, unsigned count,
                               struct error *err) {
    enum status status = ST_OK;
    for (unsigned i = 0; i < count && status == ST_OK; i++) {
        status = check_number(given, i, err);
    }
    for (unsigned axis = 0; axis < 2 && form != REGION_POLYGON && status == ST_OK; axis++) {
        status = check_sum(given, axis, err);
    }
    return status;
}

enum status region_check_rectangle(const char *name, uint32_t index, const double number[4],
                                   const bool percent[4], enum region_unit unit, struct error *err) {
    const struct given given = {name, index, number, percent, unit};
    return check_given(&given, REGION_RECTANGLE, 4, err);
}

enum status region_check(const struct region_set *set, struct error *err) {
    uint32_t count = set->room ? set->room->first : set->count; /* others were checked as they came */
    enum status status = ST_OK;
    for (uint32_t index = 0; index < count && status == ST_OK; index++) {
        const struct region *region = &set->region[index];
        const struct given given = {"region", index, set->number + region->first,
                                    set->percent + region->first, (enum region_unit)set->unit};
        status = check_given(&given, region->form, region->count, err);
    }
    return status;
}
