/* SPDX-License-Identifier: MIT */
#include "codecs/other_formats.h"

#include <string.h>
#include <strings.h>

struct magic {
    uint8_t offset;
    uint8_t size;
    const char *bytes;
    const char *name;
};

static const struct magic magics[] = {
#define FORMAT(...)
#define OTHER_FORMAT(offset, bytes, name) {offset, sizeof(bytes) - 1, bytes, name},
#include "codecs/formats.def"
};

static bool starts_with(struct bytes text, const char *word) {
    size_t size = strlen(word);
    return text.size >= size && strncasecmp((const char *)text.data, word, size) == 0;
}

static bool contains(struct bytes text, const char *word) {
    for (; text.size > 0; text.data++, text.size--) {
        if (starts_with(text, word)) {
            return true;
        }
    }
    return false;
}

static const char *markup_name(struct bytes input) {
    enum { LOOK_AT = 512 }; /* covers an XML prologue */
    struct bytes text = {input.data, input.size < LOOK_AT ? input.size : LOOK_AT};
    if (starts_with(text, "\xEF\xBB\xBF")) {
        text.data += 3, text.size -= 3;
    }
    while (text.size > 0 && strchr(" \t\r\n", text.data[0]) && text.data[0]) {
        text.data++, text.size--;
    }
    if (text.size == 0 || text.data[0] != '<') {
        return NULL;
    }
    if (contains(text, "<svg")) {
        return "an SVG drawing";
    }
    if (contains(text, "<html")) {
        return "an HTML page";
    }
    return "XML or HTML text";
}

static bool is_netpbm(struct bytes input) {
    return input.size >= 3 && input.data[0] == 'P' && input.data[1] >= '1' && input.data[1] <= '7' &&
           (input.data[2] == '\n' || input.data[2] == ' ' || input.data[2] == '\r');
}

static bool has_targa_depth(uint8_t bits) {
    return bits == 15 || bits == 16 || bits == 24 || bits == 32;
}

/* TGA has no magic number, and uncompressed TGA begins like a Windows cursor. Bytes 4 and 5 of a cursor
 * hold its number of pictures, which is not 0; in a TGA without a colour map they are 0. */
static bool has_targa_header(struct bytes input) {
    enum {
        HEADER = 18,
        MAP = 1,
        KIND,
        MAP_FIELDS,
        MAP_DEPTH = 7,
        WIDTH = 12,
        HEIGHT = 14,
        DEPTH = 16,
        FLAGS
    };
    enum { MAPPED = 1, COLOUR = 2, GREY = 3, RUNS = 8 };
    static const uint8_t no_map[5] = {0};
    const uint8_t *p = input.data;
    if (input.size < HEADER || bytes_be16(p + WIDTH) == 0 || bytes_be16(p + HEIGHT) == 0 ||
        (p[FLAGS] & 0xC0) != 0) {
        return false;
    }
    uint8_t kind = p[KIND] & (uint8_t)~RUNS;
    if (kind == MAPPED) {
        return p[MAP] == 1 && has_targa_depth(p[MAP_DEPTH]) && p[DEPTH] == 8;
    }
    return p[MAP] == 0 && memcmp(p + MAP_FIELDS, no_map, sizeof(no_map)) == 0 &&
           ((kind == COLOUR && has_targa_depth(p[DEPTH])) || (kind == GREY && p[DEPTH] == 8));
}

/* Version 2 of the format ends with a signature. */
static bool is_targa(struct bytes input) {
    static const char footer[] = "TRUEVISION-XFILE.";
    return has_targa_header(input) ||
           (input.size >= sizeof(footer) &&
            memcmp(input.data + input.size - sizeof(footer), footer, sizeof(footer)) == 0);
}

const char *other_formats_name(struct bytes input) {
    if (is_targa(input)) {
        return "a TGA picture";
    }
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
        const struct magic *magic = &magics[i];
        if (input.size >= (size_t)magic->offset + magic->size &&
            memcmp(input.data + magic->offset, magic->bytes, magic->size) == 0) {
            return magic->name;
        }
    }
    return is_netpbm(input) ? "a PBM, PGM or PPM picture" : markup_name(input);
}
