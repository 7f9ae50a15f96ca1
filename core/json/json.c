/* SPDX-License-Identifier: MIT */
#include "core/json/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/json/utf8.h"

/* The code point of a character that must not reach a terminal or log collector raw, else 0: controls (C1,
 * too: U+0085 is a line end, U+009B starts an escape sequence) and the separators U+2028 and U+2029. */
static unsigned control(const unsigned char *p, size_t length) {
    if (length == 1) {
        return *p < 0x20 || *p == 0x7F ? *p : 0;
    }
    if (length == 2 && p[0] == 0xC2 && p[1] < 0xA0) {
        return p[1];
    }
    bool separator = length == 3 && p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9);
    return separator ? 0x2000u + (p[2] & 0x3Fu) : 0;
}

/* Writes one input character as JSON to `piece`; returns the consumed bytes. */
static size_t escape(const unsigned char *p, char piece[8]) {
    size_t length = utf8_length(p);
    if (length == 0) {
        memcpy(piece, "\xEF\xBF\xBD", 4);
        return 1;
    }
    if (*p == '"' || *p == '\\') {
        snprintf(piece, 8, "\\%c", *p);
    } else if (control(p, length)) {
        snprintf(piece, 8, "\\u%04x", control(p, length));
    } else {
        memcpy(piece, p, length);
        piece[length] = '\0';
    }
    return length;
}

size_t json_string(char *out, size_t capacity, const char *text) {
    size_t used = 0;
    out[used++] = '"';
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        char piece[8];
        p += escape(p, piece);
        size_t length = strlen(piece);
        if (used + length + 2 > capacity) {
            break;
        }
        memcpy(out + used, piece, length);
        used += length;
    }
    out[used++] = '"';
    out[used] = '\0';
    return used;
}
