/* SPDX-License-Identifier: MIT */
#include "filters/argument/gravity.h"

#include <string.h>

#include "detect/detectors.h"
#include "filters/argument/value.h"

/* What people want to see in a part of a picture. */
static const enum detector_id sought[] = {DETECTOR_FACES, DETECTOR_PERSONS};

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
            *gravity = (struct gravity){.x = (i % 3) * 0.5 - 0.5, .y = (i / 3) * 0.5 - 0.5};
            return ST_OK;
        }
    }
    for (unsigned i = 0; i < sizeof sought / sizeof sought[0]; i++) {
        if (strcmp(text, detector_get(sought[i])->name) == 0) {
            *gravity = (struct gravity){.detector = (uint8_t)(1 + sought[i])};
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
                         "west, northwest, faces, persons, or a point as x,y with numbers from 0 to 1",
                         row->name, value_quote(text, buffer));
}
