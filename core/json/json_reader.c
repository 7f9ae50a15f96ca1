/* SPDX-License-Identifier: MIT */
#include "core/json/json_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_reader_init(struct json_reader *reader, struct bytes text) {
    const char *begin = text.size ? (const char *)text.data : "";
    *reader = (struct json_reader){.begin = begin, .at = begin, .end = begin + text.size};
}

size_t json_reader_offset(const struct json_reader *reader) {
    return (size_t)(reader->at - reader->begin);
}

char json_reader_peek(struct json_reader *reader) {
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4)) {
        reader->at++;
    }
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct json_reader *reader, char sign) {
    bool there = json_reader_peek(reader) == sign && reader->at < reader->end;
    reader->at += there;
    return there;
}

bool json_reader_open(struct json_reader *reader, char sign) {
    if (reader->depth == JSON_READER_DEPTH_MAX || !take(reader, sign)) {
        return false;
    }
    reader->depth++;
    reader->first = true;
    return true;
}

bool json_reader_next(struct json_reader *reader, char close, bool *more) {
    *more = json_reader_peek(reader) != close;
    if (!*more) {
        reader->at++;
        reader->depth--;
        reader->first = false;
        return true;
    }
    bool first = reader->first;
    reader->first = false;
    return first || (take(reader, ',') && json_reader_peek(reader) != close);
}

static bool read_hex(struct json_reader *reader, unsigned *code) {
    *code = 0;
    for (unsigned i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *found = reader->at < reader->end && *reader->at ? strchr(digits, *reader->at) : NULL;
        if (!found) {
            return false;
        }
        *code = *code * 16 + (unsigned)(found - digits) % 16;
        reader->at++;
    }
    return true;
}

/* Reads what follows \u: one code unit, or a pair for characters beyond U+FFFF. */
static bool read_code(struct json_reader *reader, unsigned *code) {
    unsigned low;
    if (!read_hex(reader, code) || *code == 0 || (*code >= 0xDC00 && *code < 0xE000)) {
        return false;
    }
    if (*code < 0xD800 || *code >= 0xE000) {
        return true;
    }
    if (reader->end - reader->at < 2 || memcmp(reader->at, "\\u", 2) != 0) {
        return false;
    }
    reader->at += 2;
    bool pair = read_hex(reader, &low) && low >= 0xDC00 && low < 0xE000;
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return pair;
}

/* Writes a code point as UTF-8; returns its length. */
static unsigned put_code(unsigned code, char piece[4]) {
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    unsigned length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (unsigned i = length; i-- > 1; code >>= 6) {
        piece[i] = (char)(0x80 | (code & 0x3F));
    }
    piece[0] = (char)(leads[length] | code);
    return length;
}

/* Reads one character of a string into `piece`. */
static bool read_character(struct json_reader *reader, char piece[4], unsigned *length) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned code;
    *length = 1;
    piece[0] = *reader->at++;
    if (piece[0] != '\\') {
        return (unsigned char)piece[0] >= 0x20;
    }
    const char *found = reader->at < reader->end && *reader->at ? strchr(from, *reader->at) : NULL;
    if (found) {
        reader->at++;
        piece[0] = to[found - from];
        return true;
    }
    if (reader->at == reader->end || *reader->at++ != 'u' || !read_code(reader, &code)) {
        return false;
    }
    *length = put_code(code, piece);
    return true;
}

bool json_reader_text(struct json_reader *reader, char *text, size_t size) {
    size_t used = 0;
    bool fits = true;
    if (!take(reader, '"')) {
        return false;
    }
    while (reader->at < reader->end && *reader->at != '"') {
        char piece[4];
        unsigned length;
        if (!read_character(reader, piece, &length)) {
            return false;
        }
        fits = fits && used + length < size;
        if (fits) {
            memcpy(text + used, piece, length);
            used += length;
        }
    }
    text[used] = '\0';
    return take(reader, '"');
}

bool json_reader_name(struct json_reader *reader, char *name, size_t size) {
    return json_reader_text(reader, name, size) && take(reader, ':');
}

static const char *digits(const char *at) {
    while (*at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

/* Whether all of the text is a number by the grammar of JSON. */
static bool is_number(const char *at) {
    at += *at == '-';
    const char *whole = digits(at);
    if (whole == at || (*at == '0' && whole > at + 1)) {
        return false;
    }
    at = whole;
    if (*at == '.') {
        whole = digits(++at);
        if (whole == at) {
            return false;
        }
        at = whole;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        whole = digits(at);
        if (whole == at) {
            return false;
        }
        at = whole;
    }
    return *at == '\0';
}

bool json_reader_number(struct json_reader *reader, double *value) {
    char text[64] = "", *stop;
    size_t size = 0;
    json_reader_peek(reader);
    const char *at = reader->at;
    while (at + size < reader->end && size < sizeof text - 1 && at[size] &&
           strchr("+-.0123456789eE", at[size])) {
        text[size] = at[size];
        size++;
    }
    if (size == sizeof text - 1 || !is_number(text)) {
        return false;
    }
    double read = strtod(text, &stop);
    if (*stop || !isfinite(read)) {
        return false;
    }
    reader->at += size;
    *value = read;
    return true;
}

static bool skip_word(struct json_reader *reader) {
    static const char *const words[] = {"true", "false", "null"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(reader->end - reader->at) >= length && memcmp(reader->at, words[i], length) == 0) {
            reader->at += length;
            return true;
        }
    }
    return false;
}

/* Passes over a value that is no array and no object. */
static bool skip_plain(struct json_reader *reader, char first) {
    char text[1];
    double number;
    return first == '"'                                     ? json_reader_text(reader, text, sizeof text)
           : first == '-' || (first >= '0' && first <= '9') ? json_reader_number(reader, &number)
                                                            : skip_word(reader);
}

bool json_reader_skip(struct json_reader *reader) {
    char close[JSON_READER_DEPTH_MAX], name[1];
    unsigned open = 0;
    bool more = true, good = true;
    do {
        char first = json_reader_peek(reader);
        if (more && (first == '[' || first == '{')) {
            good = json_reader_open(reader, first);
            if (good) { /* open is below the reader's depth */
                close[open++] = first == '[' ? ']' : '}';
            }
        } else if (more) {
            good = skip_plain(reader, first);
        }
        good = good && (open == 0 || json_reader_next(reader, close[open - 1], &more));
        open -= good && open > 0 && !more;
        good = good &&
               (open == 0 || !more || close[open - 1] == ']' || json_reader_name(reader, name, sizeof name));
    } while (good && open > 0);
    return good;
}
