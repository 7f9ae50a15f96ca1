/* SPDX-License-Identifier: MIT */
#include "server/message/thresholds.h"

#include <string.h>

#include "filters/argument/value.h"
#include "server/message/query.h"

static const double least = 0.05, most = 0.95;

/* The detector that the beginning of a part names; DETECTORS: none. */
static unsigned named(const char *name, size_t length) {
    unsigned id = 0;
    while (id < DETECTORS && (strlen(detector_get((enum detector_id)id)->name) != length ||
                              memcmp(detector_get((enum detector_id)id)->name, name, length) != 0)) {
        id++;
    }
    return id;
}

/* A number alone, or a name, a colon and a number. */
static enum status parse_part(const struct argument *row, const char *part, struct thresholds *made,
                              struct error *err) {
    char quoted[VALUE_QUOTE_MAX];
    const char *colon = strchr(part, ':'), *number = colon ? colon + 1 : part;
    const unsigned id = colon ? named(part, (size_t)(colon - part)) : DETECTORS;
    double value = 0;
    if (colon && id == DETECTORS) {
        return fail_argument(err, row->name, "%s has %s, whose name is no detector's", row->name,
                             value_quote(part, quoted));
    }
    if (!value_number(number, true, &value) || value < least || value > most) {
        return fail_argument(err, row->name, "%s is %s%s%s, it must be from %g to %g", row->name,
                             value_quote(number, quoted), colon ? " for " : "",
                             colon ? detector_get((enum detector_id)id)->name : "", least, most);
    }
    if (colon ? made->named >> id & 1 : made->others > 0) {
        return fail_argument(err, row->name, "%s has two numbers for %s", row->name,
                             colon ? detector_get((enum detector_id)id)->name : "all others");
    }
    *(colon ? &made->of[id] : &made->others) = value;
    made->named |= colon ? UINT32_C(1) << id : 0;
    return ST_OK;
}

enum status thresholds_parse(const struct argument *row, const char *text, void *field, struct error *err) {
    struct thresholds *made = field;
    enum status status = ST_OK;
    *made = (struct thresholds){0};
    for (const char *part = text; part && status == ST_OK;) {
        const size_t length = strcspn(part, ",");
        char copy[QUERY_VALUE_MAX + 1] = "";
        memcpy(copy, part, length < QUERY_VALUE_MAX ? length : QUERY_VALUE_MAX);
        status = parse_part(row, copy, made, err);
        part = part[length] ? part + length + 1 : NULL;
    }
    return status;
}

double thresholds_get(const struct thresholds *thresholds, enum detector_id detector) {
    return thresholds->named >> detector & 1 ? thresholds->of[detector]
           : thresholds->others > 0          ? thresholds->others
                                             : detector_get(detector)->threshold;
}
