/* SPDX-License-Identifier: MIT */
#include "filters/argument/value.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUOTED_MAX = 40 };

const char *value_quote(const char *text, char buffer[VALUE_QUOTE_MAX]) {
    size_t used = 0;
    for (; *text && used + 4 <= QUOTED_MAX; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
        used += (size_t)snprintf(buffer + used, 5, plain ? "%c" : "\\x%02x", c);
    }
    snprintf(buffer + used, 4, "%s", *text ? "..." : "");
    return used ? buffer : "empty";
}

static size_t digits(const char *text) {
    size_t count = 0;
    while (text[count] >= '0' && text[count] <= '9') {
        count++;
    }
    return count;
}

static bool is_number(const char *text, bool real) {
    text += *text == '-';
    size_t before = digits(text);
    text += before;
    size_t after = 0;
    if (real && *text == '.') {
        after = digits(++text);
        text += after;
    }
    if (before + after == 0) {
        return false;
    }
    if (real && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '-' || *text == '+';
        size_t exponent = digits(text);
        return exponent && !text[exponent];
    }
    return !*text;
}

bool value_number(const char *text, bool real, double *value) {
    if (!is_number(text, real)) {
        return false;
    }
    char *end;
    double read = strtod(text, &end);
    /* strtod stops early only under a locale with another decimal sign. */
    if (*end || !isfinite(read)) {
        return false;
    }
    *value = read;
    return true;
}

const char *value_text(double number, char buffer[VALUE_TEXT_MAX]) {
    snprintf(buffer, VALUE_TEXT_MAX, "%.12g", number);
    if (strtod(buffer, NULL) != number) {
        snprintf(buffer, VALUE_TEXT_MAX, "%.17g", number);
    }
    return buffer;
}
