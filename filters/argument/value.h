/* SPDX-License-Identifier: MIT
 * Reading numbers and quoting refused values, for all kinds of arguments. Thread-safe. */
#ifndef BLURD_FILTERS_ARGUMENT_VALUE_H
#define BLURD_FILTERS_ARGUMENT_VALUE_H

#include <stdbool.h>

enum { VALUE_QUOTE_MAX = 48, VALUE_TEXT_MAX = 32 };

/* `text` for messages: printable ASCII, at most 40 characters, "empty" for none. Returns the buffer or that
 * word. */
const char *value_quote(const char *text, char buffer[VALUE_QUOTE_MAX]);

/* Reads -?digits, and with `real` also a fraction and an exponent. Refuses spaces, plus signs, hexadecimal,
 * infinities, NaN and numbers too large for a double: false, with *value untouched. */
bool value_number(const char *text, bool real, double *value);

/* The shortest of two forms that value_number reads as the same number. Returns the buffer. */
const char *value_text(double number, char buffer[VALUE_TEXT_MAX]);

#endif
