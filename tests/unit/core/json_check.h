/* SPDX-License-Identifier: MIT
 * A strict reader of JSON (RFC 8259) for tests: says whether a text is one value and
 * nothing else, and finds members of an object. */
#ifndef BLURD_TESTS_JSON_CHECK_H
#define BLURD_TESTS_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static inline const char *json_skip_value(const char *p, int depth);

static inline const char *json_skip_blanks(const char *p) {
    return p ? p + strspn(p, " \t\r\n") : NULL;
}

/* Length of the UTF-8 character at `p`, 0 when it is none. */
static inline size_t json_utf8(const char *p) {
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t size;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    const unsigned char *c = (const unsigned char *)p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (c[0] < rows[i].low || c[0] > rows[i].high) {
            continue;
        }
        if (rows[i].size > 1 && (c[1] < rows[i].second_low || c[1] > rows[i].second_high)) {
            return 0;
        }
        for (size_t j = 2; j < rows[i].size; j++) {
            if ((c[j] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return rows[i].size;
    }
    return 0;
}

/* Returns the end of the string at `p`; NULL when there is none. */
static inline const char *json_skip_string(const char *p) {
    if (!p || *p++ != '"') {
        return NULL;
    }
    while (*p != '"') {
        if ((unsigned char)*p < 0x20) {
            return NULL;
        }
        if (*p == '\\' && p[1] == 'u') {
            if (strspn(p + 2, "0123456789abcdefABCDEF") < 4) {
                return NULL;
            }
            p += 6;
        } else if (*p == '\\') {
            if (!p[1] || !strchr("\"\\/bfnrt", p[1])) {
                return NULL;
            }
            p += 2;
        } else {
            size_t size = json_utf8(p);
            if (size == 0) {
                return NULL;
            }
            p += size;
        }
    }
    return p + 1;
}

static inline const char *json_skip_number(const char *p) {
    static const char digits[] = "0123456789";
    p += *p == '-';
    size_t whole = strspn(p, digits);
    if (whole == 0 || (whole > 1 && *p == '0')) {
        return NULL;
    }
    p += whole;
    if (*p == '.') {
        size_t count = strspn(p + 1, digits);
        p = count ? p + 1 + count : NULL;
    }
    if (p && (*p == 'e' || *p == 'E')) {
        p += 1 + (p[1] == '-' || p[1] == '+');
        size_t count = strspn(p, digits);
        p = count ? p + count : NULL;
    }
    return p;
}

/* Returns the end of the object or array at `p`. */
static inline const char *json_skip_list(const char *p, int depth) {
    char closing = *p == '{' ? '}' : ']';
    p = json_skip_blanks(p + 1);
    for (bool first = true; p && *p != closing; first = false) {
        p = first ? p : *p == ',' ? json_skip_blanks(p + 1) : NULL;
        if (closing == '}') {
            p = json_skip_blanks(json_skip_string(p));
            p = p && *p == ':' ? p + 1 : NULL;
        }
        p = json_skip_blanks(json_skip_value(p, depth + 1));
    }
    return p ? p + 1 : NULL;
}

static inline const char *json_skip_value(const char *p, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    p = json_skip_blanks(p);
    if (!p || depth > 16) {
        return NULL;
    }
    if (*p == '"') {
        return json_skip_string(p);
    }
    if (*p == '{' || *p == '[') {
        return json_skip_list(p, depth);
    }
    for (int i = 0; i < 3; i++) {
        if (strncmp(p, words[i], strlen(words[i])) == 0) {
            return p + strlen(words[i]);
        }
    }
    return json_skip_number(p);
}

/* Whether the zero-terminated text is one JSON value. */
static inline bool json_valid(const char *text) {
    const char *end = json_skip_blanks(json_skip_value(text, 0));
    return end && *end == '\0';
}

/* Copies the raw value of a member of the object `text` (valid JSON); false without it. */
static inline bool json_member(const char *text, const char *key, char *out, size_t size) {
    const char *p = json_skip_blanks(text);
    out[0] = '\0';
    for (p = p && *p == '{' ? json_skip_blanks(p + 1) : NULL; p && *p == '"';) {
        const char *name = p + 1;
        const char *value = json_skip_blanks(json_skip_string(p));
        size_t length = strcspn(name, "\"");
        value = value && *value == ':' ? json_skip_blanks(value + 1) : NULL;
        const char *end = json_skip_value(value, 0);
        if (end && length == strlen(key) && memcmp(name, key, length) == 0) {
            snprintf(out, size, "%.*s", (int)(end - value), value);
            return true;
        }
        end = json_skip_blanks(end);
        p = end && *end == ',' ? json_skip_blanks(end + 1) : NULL;
    }
    return false;
}

#endif
