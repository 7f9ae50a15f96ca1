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

static enum status check(const struct draft *draft, const struct region_set *set, struct error *err) {
    if (draft->form == REGION_POLYGON) {
        /* Mixed units depend on the size of the picture and are checked when drawing. */
        if (same_units(draft) && region_is_line(draft->number, draft->count)) {
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
    if (set->count >= REGIONS_GIVEN_MAX) {
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
    set->region[set->count++] = (struct region){
        .form = (uint8_t)draft.form, .count = (uint8_t)draft.count, .first = (uint16_t)set->numbers};
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
    uint32_t given = set->room ? set->room->first : set->count; /* others were checked as they came */
    for (uint32_t index = 0; index < given; index++) {
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
