/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/plain_text.h"

#include <string.h>

/* Length of the first UTF-8 character; 0 when it is invalid. */
static size_t character_size(struct bytes text) {
    const uint8_t *p = text.data;
    size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (size == 1) {
        return 1;
    }
    if (p[0] < 0xC2 || p[0] > 0xF4 || text.size < size) {
        return 0;
    }
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xED && p[1] >= 0xA0;
    return overlong || surrogate || (p[0] == 0xF4 && p[1] >= 0x90) ? 0 : size;
}

bool plain_text_is_utf8(struct bytes text) {
    while (text.size > 0) {
        size_t size = character_size(text);
        if (size == 0) {
            return false;
        }
        text.data += size, text.size -= size;
    }
    return true;
}

static bool is_control(unsigned c) {
    return (c < 0x20 && c != 0 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

static bool is_base64(unsigned c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

struct words {
    size_t word;   /* letters of base64 in a row */
    size_t beyond; /* letters behind the first TEXT_WORD_USUAL of each word */
};

/* Counts a character. False: the text is data, such as lines of base64 or hexadecimal digits. */
static bool count_letter(struct words *words, unsigned c) {
    words->word = is_base64(c) ? words->word + 1 : 0;
    words->beyond += words->word > TEXT_WORD_USUAL;
    return words->word <= TEXT_WORD_MAX && words->beyond <= TEXT_BEYOND_MAX;
}

static bool contains(struct bytes text, const char *word) {
    return text.size > 0 && memmem(text.data, text.size, word, strlen(word)) != NULL;
}

bool plain_text_accepts(struct bytes text) {
    struct words words = {0};
    if (text.size > TEXT_MAX || (text.size > TEXT_UNKNOWN_MAX && !plain_text_is_utf8(text))) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (is_control(text.data[i]) || !count_letter(&words, text.data[i])) {
            return false;
        }
    }
    return !contains(text, "base64,") && !contains(text, "data:image/");
}

/* The caller checks surrogates. */
static bool is_character16(unsigned c) {
    bool private_use = c >= 0xE000 && c <= 0xF8FF;
    bool none = (c >= 0xFDD0 && c <= 0xFDEF) || c >= 0xFFFE;
    return !is_control(c) && !private_use && !none;
}

bool plain_text_accepts_utf16(struct bytes text, bool little) {
    struct words words = {0};
    bool high = false; /* the previous unit was a high surrogate */
    if (text.size > TEXT_MAX || text.size % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < text.size; i += 2) {
        unsigned c = little ? text.data[i] | (unsigned)text.data[i + 1] << 8 : bytes_be16(text.data + i);
        bool low = c >= 0xDC00 && c <= 0xDFFF;
        if (low != high || !is_character16(c) || !count_letter(&words, c)) {
            return false;
        }
        high = c >= 0xD800 && c <= 0xDBFF;
    }
    return !high;
}
