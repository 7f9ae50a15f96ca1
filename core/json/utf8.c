/* SPDX-License-Identifier: MIT */
#include "core/json/utf8.h"

size_t utf8_length(const unsigned char *p) {
    if (p[0] < 0x80) {
        return 1;
    }
    size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0; /* also stops at the terminating zero */
        }
    }
    unsigned second = p[1];
    if ((p[0] == 0xE0 && second < 0xA0) || (p[0] == 0xED && second > 0x9F) ||
        (p[0] == 0xF0 && second < 0x90) || (p[0] == 0xF4 && second > 0x8F)) {
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    }
    return length;
}

bool utf8_is_valid(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t length = utf8_length(p);
        if (length == 0) {
            return false;
        }
        p += length;
    }
    return true;
}
