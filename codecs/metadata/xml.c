/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/xml.h"

#include <string.h>

#include "codecs/metadata/plain_text.h"

static const struct xml_token error = {.kind = XML_ERROR};

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(uint8_t c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
    return letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
}

static void skip(struct bytes *rest, size_t size) {
    rest->data += size, rest->size -= size;
}

static void skip_space(struct bytes *rest) {
    while (rest->size > 0 && is_space(rest->data[0])) {
        skip(rest, 1);
    }
}

bool xml_is_space(struct bytes text) {
    skip_space(&text);
    return text.size == 0;
}

/* Skips past `word`; false when it is missing. */
static bool skip_past(struct bytes *rest, const char *word) {
    const uint8_t *found = rest->size > 0 ? memmem(rest->data, rest->size, word, strlen(word)) : NULL;
    if (found) {
        skip(rest, (size_t)(found - rest->data) + strlen(word));
    }
    return found != NULL;
}

static struct bytes take_name(struct bytes *rest) {
    struct bytes name = {rest->data, 0};
    while (name.size < rest->size && is_name(rest->data[name.size])) {
        name.size++;
    }
    skip(rest, name.size);
    return name;
}

/* Finds the end of the tag; a > in quotes does not count. */
static bool find_end(struct bytes rest, size_t *end) {
    uint8_t quote = 0;
    for (*end = 0; *end < rest.size; (*end)++) {
        uint8_t c = rest.data[*end];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '<' || c == '>') {
            return c == '>';
        }
    }
    return false;
}

static struct xml_token take_tag(struct bytes *rest) {
    struct xml_token token = {.kind = XML_START};
    size_t end;
    skip(rest, 1);
    if (rest->size > 0 && rest->data[0] == '/') {
        token.kind = XML_END;
        skip(rest, 1);
    }
    token.name = take_name(rest);
    if (token.name.size == 0 || !find_end(*rest, &end)) {
        return error;
    }
    token.attributes = (struct bytes){rest->data, end};
    token.empty = end > 0 && rest->data[end - 1] == '/';
    token.attributes.size -= token.empty;
    skip(rest, end + 1);
    if (token.kind == XML_END) {
        skip_space(&token.attributes);
        return token.empty || token.attributes.size > 0 ? error : token;
    }
    return token;
}

struct xml_token xml_next(struct bytes *rest) {
    while (plain_text_starts(*rest, "<?") || plain_text_starts(*rest, "<!--")) {
        if (!skip_past(rest, rest->data[1] == '?' ? "?>" : "-->")) {
            return error;
        }
    }
    if (rest->size == 0) {
        return (struct xml_token){.kind = XML_DONE};
    }
    if (rest->data[0] == '<') {
        return take_tag(rest);
    }
    const uint8_t *tag = memchr(rest->data, '<', rest->size);
    size_t size = tag ? (size_t)(tag - rest->data) : rest->size;
    struct xml_token token = {.kind = XML_TEXT, .text = {rest->data, size}};
    skip(rest, size);
    return token;
}

enum xml_kind xml_next_attribute(struct bytes *rest, struct xml_attribute *attribute) {
    size_t before = rest->size;
    skip_space(rest);
    if (rest->size == 0) {
        return XML_DONE;
    }
    bool apart = rest->size < before;
    attribute->name = take_name(rest);
    skip_space(rest);
    if (!apart || attribute->name.size == 0 || rest->size == 0 || rest->data[0] != '=') {
        return XML_ERROR;
    }
    skip(rest, 1);
    skip_space(rest);
    if (rest->size < 2 || (rest->data[0] != '"' && rest->data[0] != '\'')) {
        return XML_ERROR;
    }
    const uint8_t *end = memchr(rest->data + 1, rest->data[0], rest->size - 1);
    if (!end) {
        return XML_ERROR;
    }
    attribute->value = (struct bytes){rest->data + 1, (size_t)(end - rest->data) - 1};
    skip(rest, attribute->value.size + 2);
    return memchr(attribute->value.data, '<', attribute->value.size) ? XML_ERROR : XML_TEXT;
}

/* The number in "#10" or "#xA"; 0 when invalid. */
static uint32_t character_number(struct bytes text) {
    bool hexadecimal = text.size > 1 && text.data[1] == 'x';
    uint32_t number = 0;
    size_t first = hexadecimal ? 2 : 1;
    if (text.size <= first || text.size > first + 7) {
        return 0;
    }
    for (size_t i = first; i < text.size; i++) {
        uint8_t c = text.data[i];
        uint8_t letter = c | 0x20;
        bool digit = c >= '0' && c <= '9', more = hexadecimal && letter >= 'a' && letter <= 'f';
        if (!digit && !more) {
            return 0;
        }
        number = number * (hexadecimal ? 16 : 10) + (digit ? c - 48u : letter - 87u);
    }
    return number;
}

static bool is_plain_number(uint32_t c) {
    bool space = c == '\t' || c == '\n' || c == '\r' || c == ' ';
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    bool printed = c > ' ' && c < 0x7F && !letter && !(c >= '0' && c <= '9') && c != '+' && c != '/';
    bool far = c >= 0xA0 && c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF) && (c & 0xFFFE) != 0xFFFE;
    return space || printed || far;
}

static bool is_plain_reference(struct bytes name) {
    static const char *const entities[] = {"amp", "lt", "gt", "quot", "apos"};
    for (size_t i = 0; i < sizeof(entities) / sizeof(*entities); i++) {
        if (plain_text_is(name, entities[i])) {
            return true;
        }
    }
    return name.size > 0 && name.data[0] == '#' && is_plain_number(character_number(name));
}

bool xml_references_are_plain(struct bytes text) {
    const uint8_t *found;
    while (text.size > 0 && (found = memchr(text.data, '&', text.size)) != NULL) {
        skip(&text, (size_t)(found - text.data) + 1);
        const uint8_t *end = text.size > 0 ? memchr(text.data, ';', text.size) : NULL;
        if (!end || !is_plain_reference((struct bytes){text.data, (size_t)(end - text.data)})) {
            return false;
        }
        skip(&text, (size_t)(end - text.data) + 1);
    }
    return true;
}
