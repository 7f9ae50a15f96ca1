/* SPDX-License-Identifier: MIT
 * The text is read twice: first the names beside the regions, which may follow them, then the regions. */
#include "filters/argument/region_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json_reader.h"
#include "detect/detectors.h"
#include "filters/argument/region_entry.h"
#include "filters/argument/value.h"

enum { NAME_MAX_BYTES = 24 };

enum {
    SEEN_UNIT = 1,
    SEEN_MARGIN = 2,
    SEEN_THRESHOLD = 4,
    SEEN_LABELS = 8,
    SEEN_WIDTH = 16,
    SEEN_HEIGHT = 32,
    SEEN_SHA256 = 64,
    SEEN_CLEAR = 128,
    SEEN_DOUBTFUL = 256,
    SEEN_INVERT = 512,
    SEEN_PLANES = 1024,
    SEEN_REGIONS = 2048, /* and a bit for each detector above */
    ARRAYS = 1 + DETECTORS
};

struct list {
    struct region_entry_rules rules;
    struct region_list_about about;
    struct json_reader array[ARRAYS]; /* of regions, at its beginning */
    unsigned arrays;
    unsigned seen;
};

static enum status malformed(const struct json_reader *reader, const char *wanted, struct error *err) {
    return fail_argument(err, "regions", "regions: at byte %zu there is no %s",
                         json_reader_offset(reader) + 1, wanted);
}

static enum status read_unit(struct json_reader *reader, struct list *list, struct error *err) {
    char text[NAME_MAX_BYTES], quoted[VALUE_QUOTE_MAX];
    if (!json_reader_text(reader, text, sizeof text)) {
        return malformed(reader, "text for the unit", err);
    }
    for (int unit = 0; region_unit_names[unit]; unit++) {
        if (strcmp(text, region_unit_names[unit]) == 0) {
            list->rules.unit = (enum region_unit)unit;
            return ST_OK;
        }
    }
    return fail_argument(err, "regions", "regions: unit is %s, it must be px, percent or ratio",
                         value_quote(text, quoted));
}

static enum status read_number(struct json_reader *reader, const char *name, double least, double most,
                               double *value, struct error *err) {
    if (!json_reader_number(reader, value)) {
        return malformed(reader, "number", err);
    }
    if (*value < least || *value > most) {
        return fail_argument(err, "regions", "regions: %s is %.10g, it must be from %g to %g", name, *value,
                             least, most);
    }
    return ST_OK;
}

static enum status read_side(struct json_reader *reader, const char *name, uint32_t *side,
                             struct error *err) {
    double value = 0;
    enum status status = read_number(reader, name, 1, REGION_PIXELS_MAX, &value, err);
    if (status == ST_OK && value != floor(value)) {
        return fail_argument(err, "regions", "regions: %s is %.10g, it must be whole", name, value);
    }
    *side = status == ST_OK ? (uint32_t)value : 0;
    return status;
}

static enum status read_labels(struct json_reader *reader, struct list *list, struct error *err) {
    struct region_entry_rules *rules = &list->rules;
    bool more;
    rules->chosen = true;
    if (!json_reader_open(reader, '[')) {
        return malformed(reader, "array of labels", err);
    }
    while (json_reader_next(reader, ']', &more)) {
        if (!more) {
            return ST_OK;
        }
        if (rules->labels == REGION_ENTRY_LABELS_MAX) {
            return fail_argument(err, "regions", "regions: there are more than %d labels",
                                 REGION_ENTRY_LABELS_MAX);
        }
        if (!json_reader_text(reader, rules->label[rules->labels++], REGION_ENTRY_LABEL_MAX)) {
            return malformed(reader, "text for a label", err);
        }
    }
    return malformed(reader, "end of the labels, ]", err);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum status read_sha256(struct json_reader *reader, struct list *list, struct error *err) {
    char text[2 * REGION_LIST_SHA256 + 2];
    struct region_list_about *about = &list->about;
    bool fits = json_reader_text(reader, text, sizeof text) && strlen(text) == 2 * REGION_LIST_SHA256;
    for (unsigned i = 0; fits && i < REGION_LIST_SHA256; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        fits = high >= 0 && low >= 0;
        about->sha256[i] = (uint8_t)(fits ? high << 4 | low : 0);
    }
    about->hashed = fits;
    return fits ? ST_OK
                : fail_argument(err, "regions", "regions: sha256 must be 64 digits from 0 to 9 and a to f");
}

static enum status read_switch(struct json_reader *reader, const char *name, bool *value, struct error *err) {
    const char first = json_reader_peek(reader);
    *value = first == 't';
    return (first == 't' || first == 'f') && json_reader_skip(reader)
               ? ST_OK
               : fail_argument(err, "regions", "regions: %s must be true or false", name);
}

static enum status read_planes(struct json_reader *reader, struct list *list, struct error *err) {
    bool planes = true;
    enum status status = read_switch(reader, "planes", &planes, err);
    list->about.pixels = !planes;
    return status;
}

static enum status read_regions(struct json_reader *reader, struct list *list, struct error *err) {
    json_reader_peek(reader);
    list->array[list->arrays++] = *reader;
    return json_reader_skip(reader) ? ST_OK : malformed(reader, "valid JSON", err);
}

static enum status read_value(struct json_reader *reader, struct list *list, unsigned what, const char *name,
                              struct error *err) {
    struct region_entry_rules *rules = &list->rules;
    switch (what) {
    case SEEN_UNIT:
        return read_unit(reader, list, err);
    case SEEN_MARGIN:
        return read_number(reader, name, 0, REGION_ENTRY_MARGIN_MAX, &rules->margin, err);
    case SEEN_THRESHOLD:
        rules->thresholded = true;
        return read_number(reader, name, 0, 1e6, &rules->threshold, err);
    case SEEN_LABELS:
        return read_labels(reader, list, err);
    case SEEN_WIDTH:
        return read_side(reader, name, &list->about.width, err);
    case SEEN_HEIGHT:
        return read_side(reader, name, &list->about.height, err);
    case SEEN_SHA256:
        return read_sha256(reader, list, err);
    case SEEN_CLEAR:
        return read_switch(reader, name, &list->about.clear_transparent, err);
    case SEEN_INVERT:
        return read_switch(reader, name, &list->about.invert, err);
    case SEEN_PLANES:
        return read_planes(reader, list, err);
    case SEEN_DOUBTFUL:
        return json_reader_skip(reader) ? ST_OK : malformed(reader, "valid JSON", err);
    default:
        return read_regions(reader, list, err);
    }
}

static enum status read_member(struct json_reader *reader, struct list *list, struct error *err) {
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {
        {"unit", SEEN_UNIT},           {"margin", SEEN_MARGIN},
        {"threshold", SEEN_THRESHOLD}, {"labels", SEEN_LABELS},
        {"width", SEEN_WIDTH},         {"height", SEEN_HEIGHT},
        {"sha256", SEEN_SHA256},       {"regions", SEEN_REGIONS},
        {"doubtful", SEEN_DOUBTFUL},   {"clear_transparent", SEEN_CLEAR},
        {"invert", SEEN_INVERT},       {"planes", SEEN_PLANES},
#define DETECTOR(ID, name, thing, Title) {#name, SEEN_REGIONS << (1 + DETECTOR_##ID)},
#include "detect/detectors.def"
#undef DETECTOR
    };
    char name[NAME_MAX_BYTES], quoted[VALUE_QUOTE_MAX];
    if (!json_reader_name(reader, name, sizeof name)) {
        return malformed(reader, "name with a colon", err);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0 && (list->seen & names[i].bit)) {
            return fail_argument(err, "regions", "regions: %s is there more than once", name);
        }
        if (strcmp(name, names[i].name) == 0) {
            list->seen |= names[i].bit;
            return read_value(reader, list, names[i].bit, name, err);
        }
    }
    return fail_argument(
        err, "regions",
        "regions: unknown name %s; there are unit, margin, threshold, labels, width, height, "
        "sha256, clear_transparent, invert, planes, doubtful, regions"
#define DETECTOR(ID, name, thing, Title) ", " #name
#include "detect/detectors.def"
#undef DETECTOR
        ,
        value_quote(name, quoted));
}

static enum status read_object(struct json_reader *reader, struct list *list, struct error *err) {
    enum status status = ST_OK;
    bool more = true;
    json_reader_open(reader, '{');
    while (status == ST_OK && more) {
        status = json_reader_next(reader, '}', &more) ? ST_OK : malformed(reader, "comma or }", err);
        status = status == ST_OK && more ? read_member(reader, list, err) : status;
    }
    if (status == ST_OK && list->arrays == 0) {
        return fail_argument(err, "regions", "regions: the array \"regions\" is missing");
    }
    return status;
}

/* Reads all of the text but the entries. */
static enum status read_list(struct bytes text, struct list *list, struct error *err) {
    struct json_reader reader;
    json_reader_init(&reader, text);
    char first = json_reader_peek(&reader);
    if (first != '{' && first != '[') {
        return malformed(&reader, "JSON object or array", err);
    }
    enum status status = first == '{' ? read_object(&reader, list, err) : read_regions(&reader, list, err);
    if (status == ST_OK && (json_reader_peek(&reader) || reader.at < reader.end)) {
        return malformed(&reader, "end of the JSON", err);
    }
    return status;
}

static enum status read_array(struct region_set *set, struct region_keep *keep, const struct list *list,
                              unsigned array, unsigned *entry, struct error *err) {
    struct json_reader reader = list->array[array];
    enum status status = ST_OK;
    bool more = true;
    if (!json_reader_open(&reader, '[')) {
        return malformed(&reader, "array of regions", err);
    }
    while (status == ST_OK && json_reader_next(&reader, ']', &more) && more) {
        if (*entry == REGION_LIST_ENTRIES_MAX) {
            return fail_argument(err, "regions", "regions: there are more than %d entries",
                                 REGION_LIST_ENTRIES_MAX);
        }
        status = region_entry_read(set, keep, &reader, &list->rules, ++*entry, err);
    }
    return status;
}

enum status region_list_parse(struct region_set *set, struct region_keep *keep, struct bytes text,
                              struct region_list_about *about, struct error *err) {
    struct list list = {.rules = {.unit = REGION_PX}};
    if (text.size > REGION_LIST_BYTES_MAX) {
        return fail_argument(err, "regions", "regions: the part has %zu bytes, the limit is %d", text.size,
                             REGION_LIST_BYTES_MAX);
    }
    enum status status = read_list(text, &list, err);
    list.about.ruled = list.seen & (SEEN_UNIT | SEEN_MARGIN | SEEN_THRESHOLD | SEEN_LABELS);
    *about = list.about;
    for (unsigned i = 0, entry = 0; i < list.arrays && status == ST_OK; i++) {
        status = read_array(set, keep, &list, i, &entry, err);
    }
    return status;
}
