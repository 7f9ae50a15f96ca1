/* SPDX-License-Identifier: MIT
 * What arguments of every kind share: reading a number, and quoting a refused value. Thread-safe. */
#ifndef BLURD_FILTERS_VALUE_H
#define BLURD_FILTERS_VALUE_H

#include <stdbool.h>

enum { VALUE_QUOTE_MAX = 48 };

/* `text` as it may stand in a sentence: printable ASCII, at most 40 characters, "empty" for none. Returns the
 * buffer or that word. */
const char *value_quote(const char *text, char buffer[VALUE_QUOTE_MAX]);

/* Reads -?digits, and where `real` also a fraction and an exponent: what strtod takes, less spaces, plus
 * signs, hexadecimal, infinities and NaN. False, with *value untouched, for anything else and for what is too
 * large for a double. */
bool value_number(const char *text, bool real, double *value);

#endif
