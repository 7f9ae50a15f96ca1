/* SPDX-License-Identifier: MIT */
#include "server/message/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum decoded { DECODED, DECODED_BROKEN, DECODED_ZERO, DECODED_LONG };

static enum decoded decode(const char *text, size_t size, char *out, size_t maximum) {
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < size ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < size ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return DECODED_BROKEN;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0') {
            return DECODED_ZERO;
        }
        if (used == maximum) {
            return DECODED_LONG;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return DECODED;
}

static enum status explain(enum decoded result, const char *name, const char *what, struct error *err) {
    switch (result) {
    case DECODED_BROKEN:
        return fail_argument(err, name, "the %s has a broken percent escape", what);
    case DECODED_ZERO:
        return fail_argument(err, name, "the %s contains a zero byte", what);
    case DECODED_LONG:
        return fail_argument(err, name, "the %s is too long", what);
    default:
        return ST_OK;
    }
}

bool query_next(const char **cursor, struct query_pair *pair, struct error *err) {
    while (**cursor == '&') {
        ++*cursor;
    }
    size_t size = strcspn(*cursor, "&");
    if (size == 0) {
        return false;
    }
    const char *text = *cursor;
    *cursor += size;
    const char *equals = memchr(text, '=', size);
    size_t name_size = equals ? (size_t)(equals - text) : size;
    enum decoded result = decode(text, name_size, pair->name, QUERY_NAME_MAX);
    if (explain(result, "", "name of a parameter", err) != ST_OK) {
        return false;
    }
    pair->value[0] = '\0';
    if (equals) {
        result = decode(equals + 1, size - name_size - 1, pair->value, QUERY_VALUE_MAX);
    }
    return explain(result, pair->name, "value", err) == ST_OK;
}
