/* SPDX-License-Identifier: MIT */
#include "filters/argument/gravity.h"

#include <string.h>

#include "filters/argument/value.h"

/* In reading order, three a row; the middle is all zero. */
static const char *const places[] = {"northwest", "north",     "northeast", "west",     "center",
                                     "east",      "southwest", "south",     "southeast"};

static bool read_share(const char *text, size_t length, double *share) {
    char number[32];
    double value;
    if (length >= sizeof number) {
        return false;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    if (!value_number(number, true, &value) || value < 0 || value > 1) {
        return false;
    }
    *share = value - 0.5;
    return true;
}

enum status gravity_parse(const struct argument *row, const char *text, void *field, struct error *err) {
    struct gravity *gravity = field;
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(text, places[i]) == 0) {
            *gravity = (struct gravity){(i % 3) * 0.5 - 0.5, (i / 3) * 0.5 - 0.5};
            return ST_OK;
        }
    }
    const char *comma = strchr(text, ',');
    if (comma && read_share(text, (size_t)(comma - text), &gravity->x) &&
        read_share(comma + 1, strlen(comma + 1), &gravity->y)) {
        return ST_OK;
    }
    char buffer[VALUE_QUOTE_MAX];
    return fail_argument(err, row->name,
                         "%s is %s, it must be center, north, northeast, east, southeast, south, southwest, "
                         "west, northwest, or a point as x,y with numbers from 0 to 1",
                         row->name, value_quote(text, buffer));
}
