/* SPDX-License-Identifier: MIT
 * The parameter `gravity`: where a part lies in a whole, as one of nine places, as a point, or where a
 * detector finds something. */
#ifndef BLURD_FILTERS_ARGUMENT_GRAVITY_H
#define BLURD_FILTERS_ARGUMENT_GRAVITY_H

#include <stdint.h>

#include "filters/argument/argument.h"

/* Where the part lies in the room that is left: the middle is all zero. */
struct gravity {
    double x, y;      /* from -0.5, left or top, to 0.5, right or bottom */
    uint8_t detector; /* 1 + the enum detector_id whose finds decide in their place; 0: none */
};

/* The `parse` of rows of arguments whose field is a struct gravity. */
enum status gravity_parse(const struct argument *row, const char *text, void *field, struct error *err);

#endif
