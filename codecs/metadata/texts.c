/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/texts.h"

#include <string.h>

#include <libdeflate.h>

#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"

enum { KEYWORD_MAX = 79 };

enum status texts_inflate(struct bytes stream, size_t most, struct buf *output, struct error *err) {
    buf_init(output, most);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (!decompressor) {
        return fail(err, ST_BUSY, "out of memory for the texts of a PNG");
    }
    enum status status = buf_reserve(output, most, err);
    if (status == ST_OK && stream.size > 0 &&
        libdeflate_zlib_decompress(decompressor, stream.data, stream.size, output->data, most,
                                   &output->size) != LIBDEFLATE_SUCCESS) {
        output->size = 0;
    }
    libdeflate_free_decompressor(decompressor);
    return status;
}

/* Takes the string before the next zero off *rest; false without a zero. */
static bool take_string(struct bytes *rest, struct bytes *string) {
    const uint8_t *zero = rest->size > 0 ? memchr(rest->data, 0, rest->size) : NULL;
    if (!zero) {
        return false;
    }
    *string = (struct bytes){rest->data, (size_t)(zero - rest->data)};
    rest->data += string->size + 1, rest->size -= string->size + 1;
    return true;
}

static bool read_international(struct bytes data, struct text_parts *text) {
    if (!take_string(&data, &text->keyword) || data.size < 2 || data.data[0] > 1 || data.data[1] != 0) {
        return false;
    }
    text->deflated = data.data[0] == 1;
    data.data += 2, data.size -= 2;
    bool whole = take_string(&data, &text->language) && take_string(&data, &text->translated);
    text->text = data;
    return whole;
}

bool texts_split(enum chunk_kind kind, struct bytes data, struct text_parts *text) {
    *text = (struct text_parts){.international = kind == CHUNK_TEXT_INTERNATIONAL,
                                .deflated = kind == CHUNK_TEXT_DEFLATED};
    if (kind == CHUNK_COMMENT) {
        text->keyword = (struct bytes){(const uint8_t *)TEXT_COMMENT, strlen(TEXT_COMMENT)};
        text->text = data;
        return true;
    }
    if (text->international) {
        return read_international(data, text);
    }
    bool whole = take_string(&data, &text->keyword);
    if (whole && text->deflated) {
        whole = data.size > 0 && data.data[0] == 0; /* compression method */
        data.data += whole, data.size -= whole;
    }
    text->text = data;
    return whole;
}

static bool is_text(enum chunk_kind kind) {
    return kind == CHUNK_COMMENT || kind == CHUNK_TEXT || kind == CHUNK_TEXT_DEFLATED ||
           kind == CHUNK_TEXT_INTERNATIONAL;
}

static bool is_keyword(struct bytes keyword) {
    bool valid = keyword.size >= 1 && keyword.size <= KEYWORD_MAX;
    for (size_t i = 0; i < keyword.size && valid; i++) {
        uint8_t c = keyword.data[i];
        valid = (c >= 0x20 && c < 0x7F) || c >= 0xA1;
    }
    return valid;
}

static bool is_ascii(struct bytes text) {
    size_t i = 0;
    while (i < text.size && text.data[i] < 0x80) {
        i++;
    }
    return i == text.size;
}

/* Converts Latin-1 to UTF-8, in which the upper half takes two bytes a character. */
static enum status convert(struct bytes latin, struct buf *output, struct error *err) {
    enum status status = buf_reserve(output, 2 * latin.size, err);
    for (size_t i = 0; i < latin.size && status == ST_OK; i++) {
        uint8_t c = latin.data[i];
        if (c >= 0x80) {
            output->data[output->size++] = (uint8_t)(0xC0 | c >> 6);
            c = 0x80 | (c & 0x3F);
        }
        output->data[output->size++] = c;
    }
    return status;
}

/* Removes zeros at the end, which some programs write. */
static struct bytes trimmed(struct bytes text) {
    while (text.size > 0 && text.data[text.size - 1] == 0) {
        text.size--;
    }
    return text;
}

static bool is_carried(const struct text_parts *source, struct bytes value) {
    return is_keyword(source->keyword) && source->language.size <= KEYWORD_MAX &&
           is_ascii(source->language) && plain_text_accepts(source->language) &&
           source->translated.size <= 4 * KEYWORD_MAX && plain_text_accepts(source->translated) &&
           plain_text_is_utf8(source->translated) && plain_text_accepts(value) && plain_text_is_utf8(value) &&
           !(value.size > 0 && memchr(value.data, 0, value.size));
}

struct visit {
    enum status (*function)(void *context, const struct text *text, struct error *err);
    void *context;
    unsigned *losses;
};

static enum status visit_value(const struct visit *visit, const struct text_parts *source, struct bytes raw,
                               struct error *err) {
    struct buf converted;
    struct bytes value = trimmed(raw);
    enum status status = ST_OK;
    buf_init(&converted, 2 * TEXT_MAX);
    if (!source->international && value.size <= TEXT_MAX && !plain_text_is_utf8(value)) {
        status = convert(value, &converted, err);
        value = buf_bytes(&converted);
    }
    if (status == ST_OK && is_carried(source, value)) {
        struct text text = {source->keyword, source->language, source->translated, value, is_ascii(value)};
        status = visit->function(visit->context, &text, err);
    } else {
        *visit->losses |= LOSS_TEXT;
    }
    buf_finish(&converted);
    return status;
}

static enum status visit_source(const struct visit *visit, const struct text_parts *source,
                                struct error *err) {
    if (!source->deflated) {
        return visit_value(visit, source, source->text, err);
    }
    struct buf inflated = {0};
    enum status status = texts_inflate(source->text, TEXT_MAX, &inflated, err);
    if (status == ST_OK && inflated.size > 0) {
        status = visit_value(visit, source, buf_bytes(&inflated), err);
    } else {
        *visit->losses |= LOSS_TEXT;
    }
    buf_finish(&inflated);
    return status;
}

enum status texts_each(const struct metadata *metadata, unsigned *losses,
                       enum status (*visit)(void *context, const struct text *text, struct error *err),
                       void *context, struct error *err) {
    struct visit how = {visit, context, losses};
    enum status status = ST_OK;
    for (unsigned i = 0; i < metadata->chunk_count && status == ST_OK; i++) {
        struct text_parts source;
        if (!is_text(metadata->chunk[i].kind)) {
            continue;
        }
        if (texts_split(metadata->chunk[i].kind, metadata->chunk[i].data, &source)) {
            status = visit_source(&how, &source, err);
        } else {
            *losses |= LOSS_TEXT;
        }
    }
    return status;
}
