/* SPDX-License-Identifier: MIT */
#include "filters/argument/region_entry.h"

#include <math.h>
#include <string.h>

#include "filters/argument/value.h"

/* The members of an entry. Each is also the number of a bit in the set of members that were read. */
enum member {
    NAME_BOX,
    NAME_CORNERS,
    NAME_ELLIPSE,
    NAME_POLYGON,
    NAME_X,
    NAME_Y,
    NAME_WIDTH,
    NAME_HEIGHT,
    NAME_SCORE,
    NAME_LABEL,
    NAME_MARGIN,
    NAME_LANDMARKS,
    NAME_KEEP,
    NAME_ORIGIN,
    NAME_COUNT
};

static const char *const names[NAME_COUNT] = {"box",    "corners",   "ellipse", "polygon", "x",
                                              "y",      "width",     "height",  "score",   "label",
                                              "margin", "landmarks", "keep",    "origin"};

#define BIT(name) (1u << (name))
enum { SIDES = 0xF << NAME_X, SHAPES = 0xF }; /* x, y, width, height; box, corners, ellipse, polygon */

/* An entry that is being read. */
struct entry {
    struct json_reader *reader;
    const struct region_entry_rules *rules;
    struct error *err;
    unsigned index;
    unsigned seen; /* bits of the names that were read */
    unsigned count;
    double number[2 * REGION_POINTS_MAX];
    double side[4]; /* x, y, width, height */
    double score, margin;
    bool keep;
    char label[REGION_ENTRY_LABEL_MAX];
};

/* `rule` is the rest of the sentence. */
static enum status refuse(const struct entry *entry, const char *rule) {
    return fail_argument(entry->err, "regions", "regions: entry %u%s", entry->index, rule);
}

static enum status read_numbers(struct entry *entry, unsigned most) {
    struct json_reader *reader = entry->reader;
    bool more = true;
    if (!json_reader_open(reader, '[')) {
        return refuse(entry, " has no array of numbers where one must be");
    }
    while (json_reader_next(reader, ']', &more) && more) {
        if (entry->count == most) {
            return refuse(entry, most == 2 * REGION_POINTS_MAX ? ": a polygon has at most 64 points"
                                                               : " has too many numbers");
        }
        if (!json_reader_number(reader, &entry->number[entry->count++])) {
            return refuse(entry, " has something else than numbers of at most 62 characters in its array");
        }
    }
    return more ? refuse(entry, ": its array of numbers does not end with ]") : ST_OK;
}

static enum status read_four(struct entry *entry) {
    enum status status = read_numbers(entry, 4);
    return status == ST_OK && entry->count != 4 ? refuse(entry, " must have 4 numbers") : status;
}

static enum status read_polygon(struct entry *entry) {
    enum { MOST = 2 * REGION_POINTS_MAX };
    enum status status = ST_OK;
    bool more = true;
    if (!json_reader_open(entry->reader, '[')) {
        return refuse(entry, ": a polygon is an array of points, [[x, y], ...]");
    }
    while (status == ST_OK && json_reader_next(entry->reader, ']', &more) && more) {
        unsigned before = entry->count;
        status = read_numbers(entry, before == MOST ? MOST : before + 2);
        if (status == ST_OK && entry->count != before + 2) {
            return refuse(entry, ": a point of a polygon has 2 numbers");
        }
    }
    if (status == ST_OK && more) {
        return refuse(entry, ": its polygon does not end with ]");
    }
    return status == ST_OK && entry->count < 2 * REGION_POINTS_MIN
               ? refuse(entry, ": a polygon has at least 3 points")
               : status;
}

static enum status read_number(struct entry *entry, enum member name, double *value) {
    if (json_reader_number(entry->reader, value)) {
        return ST_OK;
    }
    return fail_argument(entry->err, "regions", "regions: entry %u: %s is no number of at most 62 characters",
                         entry->index, names[name]);
}

static enum status read_shape(struct entry *entry, enum member name) {
    const unsigned others = name == NAME_POLYGON ? SHAPES : SHAPES | SIDES;
    if (entry->seen & others & ~BIT(name)) {
        return refuse(entry, " has more than one shape");
    }
    return name == NAME_POLYGON ? read_polygon(entry) : read_four(entry);
}

static enum status read_side(struct entry *entry, enum member name) {
    if (entry->seen & SHAPES & ~BIT(NAME_POLYGON)) {
        return refuse(entry, " has more than one shape");
    }
    return read_number(entry, name, &entry->side[name - NAME_X]);
}

static enum status read_margin(struct entry *entry) {
    enum status status = read_number(entry, NAME_MARGIN, &entry->margin);
    if (status == ST_OK && (entry->margin < 0 || entry->margin > REGION_ENTRY_MARGIN_MAX)) {
        return refuse(entry, ": margin must be from 0 to 500 percent");
    }
    return status;
}

static enum status read_keep(struct entry *entry) {
    const char first = json_reader_peek(entry->reader);
    entry->keep = first == 't';
    return (first == 't' || first == 'f') && json_reader_skip(entry->reader)
               ? ST_OK
               : refuse(entry, ": keep must be true or false");
}

static enum status read_value(struct entry *entry, enum member name) {
    switch (name) {
    case NAME_BOX:
    case NAME_CORNERS:
    case NAME_ELLIPSE:
    case NAME_POLYGON:
        return read_shape(entry, name);
    case NAME_X:
    case NAME_Y:
    case NAME_WIDTH:
    case NAME_HEIGHT:
        return read_side(entry, name);
    case NAME_SCORE:
        return read_number(entry, name, &entry->score);
    case NAME_MARGIN:
        return read_margin(entry);
    case NAME_LABEL:
        return json_reader_text(entry->reader, entry->label, sizeof entry->label)
                   ? ST_OK
                   : refuse(entry, ": label is no text");
    case NAME_KEEP:
        return read_keep(entry);
    default:
        return json_reader_skip(entry->reader) ? ST_OK
                                               : refuse(entry, ": landmarks or origin is no valid JSON");
    }
}

static enum status read_member(struct entry *entry) {
    char text[16], quoted[VALUE_QUOTE_MAX];
    unsigned name = 0;
    if (!json_reader_name(entry->reader, text, sizeof text)) {
        return refuse(entry, ": a name with a colon is missing");
    }
    while (name < NAME_COUNT && strcmp(text, names[name]) != 0) {
        name++;
    }
    if (name == NAME_COUNT) {
        return fail_argument(entry->err, "regions",
                             "regions: entry %u: unknown name %s; there are box, corners, ellipse, polygon, "
                             "x, y, width, height, score, label, margin, landmarks, keep and origin",
                             entry->index, value_quote(text, quoted));
    }
    if (entry->seen & BIT(name)) {
        return fail_argument(entry->err, "regions", "regions: entry %u: %s is there more than once",
                             entry->index, names[name]);
    }
    entry->seen |= BIT(name);
    return read_value(entry, (enum member)name);
}

static bool is_left_out(const struct entry *entry) {
    const struct region_entry_rules *rules = entry->rules;
    bool known = !rules->chosen || !(entry->seen & BIT(NAME_LABEL));
    for (unsigned i = 0; i < rules->labels && !known; i++) {
        known = strcmp(rules->label[i], entry->label) == 0;
    }
    return !known ||
           (rules->thresholded && (entry->seen & BIT(NAME_SCORE)) && entry->score < rules->threshold);
}

void region_entry_grow(double number[4], double margin) {
    for (unsigned axis = 0; axis < 2; axis++) {
        double side = number[axis + 2];
        number[axis] -= side * margin / 100;
        number[axis + 2] = side * (1 + 2 * margin / 100);
    }
}

/* Checks a box or ellipse and adds its margin. */
static enum status finish_box(struct entry *entry) {
    double *number = entry->number;
    if (entry->seen & BIT(NAME_CORNERS)) {
        number[2] -= number[0];
        number[3] -= number[1];
    }
    if (!(number[2] > 0 && number[3] > 0)) {
        return refuse(entry, " is empty: its width and height must be above 0");
    }
    if (!entry->keep) {
        region_entry_grow(number, entry->seen & BIT(NAME_MARGIN) ? entry->margin : entry->rules->margin);
    }
    return ST_OK;
}

/* Numbers may lie off the picture, as those of detectors do, but not by far. */
static enum status check_range(const struct entry *entry) {
    static const double most[] = {
        [REGION_PX] = REGION_PIXELS_MAX, [REGION_PERCENT] = 1000, [REGION_RATIO] = 10};
    double limit = most[entry->rules->unit];
    bool box = !(entry->seen & BIT(NAME_POLYGON)), fits = true;
    for (unsigned i = 0; i < entry->count; i++) {
        double at = box && i >= 2 ? entry->number[i - 2] + entry->number[i] : entry->number[i];
        fits = fits && fabs(at) <= limit;
    }
    return fits ? ST_OK
                : fail_argument(entry->err, "regions",
                                "regions: entry %u reaches, with its margin, beyond %g %s from the corner",
                                entry->index, limit, region_unit_names[entry->rules->unit]);
}

/* /detect tells the polygon of a line of text beside the box, which is what counts. */
static void prefer_sides(struct entry *entry) {
    if (entry->seen & SIDES) {
        entry->seen &= ~BIT(NAME_POLYGON);
        entry->count = 4;
        memcpy(entry->number, entry->side, sizeof entry->side);
    }
}

static enum status check_shape(struct entry *entry) {
    prefer_sides(entry);
    bool polygon = entry->seen & BIT(NAME_POLYGON);
    if (entry->keep && entry->seen & (BIT(NAME_POLYGON) | BIT(NAME_ELLIPSE) | BIT(NAME_MARGIN))) {
        return refuse(entry, ": keep is for boxes without a margin of their own");
    }
    double margin = entry->seen & BIT(NAME_MARGIN) ? entry->margin : entry->rules->margin;
    if (!(entry->seen & SHAPES) && (entry->seen & SIDES) != SIDES) {
        return refuse(entry, " has no shape: box, corners, ellipse, polygon, or x, y, width and height");
    }
    if (polygon && margin > 0) {
        return refuse(entry, ": margin is for boxes and ellipses; give the polygon a margin of 0");
    }
    if (polygon && region_is_line(entry->number, entry->count)) {
        return refuse(entry, " is empty: the points of its polygon lie on one line");
    }
    enum status status = polygon ? ST_OK : finish_box(entry);
    return status == ST_OK ? check_range(entry) : status;
}

static enum status append(struct region_set *set, struct region_keep *keep, const struct entry *entry) {
    enum region_form form = entry->seen & BIT(NAME_POLYGON)   ? REGION_POLYGON
                            : entry->seen & BIT(NAME_ELLIPSE) ? REGION_ELLIPSE
                                                              : REGION_RECTANGLE;
    const struct region region = {.form = (uint8_t)form,
                                  .count = (uint8_t)entry->count,
                                  .source = REGION_LISTED,
                                  .unit = (uint8_t)entry->rules->unit,
                                  .entry = (uint16_t)entry->index};
    struct error cause = {0};
    const enum status status = entry->keep ? region_keep_add(keep, entry->number, entry->rules->unit, &cause)
                                           : region_add(set, &region, entry->number, &cause);
    return status == ST_OK
               ? ST_OK
               : fail_argument(entry->err, "regions", "regions: entry %u: %s", entry->index, cause.text);
}

enum status region_entry_read(struct region_set *set, struct region_keep *keep, struct json_reader *reader,
                              const struct region_entry_rules *rules, unsigned index, struct error *err) {
    struct entry entry = {.reader = reader, .rules = rules, .err = err, .index = index};
    enum status status = ST_OK;
    bool more = true;
    if (!json_reader_open(reader, '{')) {
        return refuse(&entry, " is no JSON object");
    }
    while (status == ST_OK && more) {
        status = json_reader_next(reader, '}', &more) ? ST_OK : refuse(&entry, ": a comma or } is missing");
        status = status == ST_OK && more ? read_member(&entry) : status;
    }
    status = status == ST_OK ? check_shape(&entry) : status;
    return status == ST_OK && !is_left_out(&entry) ? append(set, keep, &entry) : status;
}
