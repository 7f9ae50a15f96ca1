/* SPDX-License-Identifier: MIT
 * The parameter `gravity`: where a part lies in a whole, as one of nine places or as a point. */
#ifndef BLURD_FILTERS_ARGUMENT_GRAVITY_H
#define BLURD_FILTERS_ARGUMENT_GRAVITY_H

#include "filters/argument/argument.h"

/* Shares of the room that is left, minus one half: the middle is all zero. */
struct gravity {
    double x, y; /* -0.5: left or top; 0.5: right or bottom */
};

/* As a row's `parse`; the field is a struct gravity. */
enum status gravity_parse(const struct argument *row, const char *text, void *field, struct error *err);

#endif
