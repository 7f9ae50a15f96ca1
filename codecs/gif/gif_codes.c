/* SPDX-License-Identifier: MIT
 * Codes below 1 << first are pixels, the next two reset the table and end the data. Each further code stands
 * for the string of the code before and the first pixel of that behind. */
#include "codecs/gif/gif_codes.h"

enum { WIDTH_MAX = 12, BLOCK_MAX = 255, SLOTS = 8192 };

static void reset(struct gif_reader *reader) {
    reader->width = reader->first + 1;
    reader->next = (1u << reader->first) + 2;
    reader->last = -1;
}

void gif_reader_init(struct gif_reader *reader, struct bytes data) {
    memset(reader, 0, sizeof *reader);
    reader->data = data;
    reader->position = 1;
    reader->first = data.data[0];
    for (unsigned i = 0; i < 1u << reader->first; i++) {
        reader->suffix[i] = (uint8_t)i;
        reader->size[i] = 1;
    }
    reset(reader);
}

static bool next_byte(struct gif_reader *reader, uint32_t *byte) {
    if (reader->block == 0) {
        if (reader->position >= reader->data.size || reader->data.data[reader->position] == 0) {
            return false;
        }
        reader->block = reader->data.data[reader->position++];
    }
    if (reader->position >= reader->data.size) {
        return false;
    }
    *byte = reader->data.data[reader->position++];
    reader->block--;
    return true;
}

static bool next_code(struct gif_reader *reader, unsigned *code) {
    uint32_t byte = 0;
    while (reader->count < reader->width) {
        if (!next_byte(reader, &byte)) {
            return false;
        }
        reader->bits |= byte << reader->count;
        reader->count += 8;
    }
    *code = reader->bits & ((1u << reader->width) - 1);
    reader->bits >>= reader->width;
    reader->count -= reader->width;
    return true;
}

/* Writes the code's string, and returns its first pixel. */
static uint8_t spell(struct gif_reader *reader, unsigned code) {
    const unsigned length = reader->size[code];
    for (unsigned i = length; i > 1; i--) {
        reader->string[i - 1] = reader->suffix[code];
        code = reader->prefix[code];
    }
    reader->string[0] = reader->suffix[code];
    reader->length = length;
    reader->used = 0;
    return reader->string[0];
}

static void define(struct gif_reader *reader, uint8_t pixel) {
    const unsigned code = reader->next;
    if (reader->last < 0 || code >= GIF_CODES) {
        return;
    }
    reader->prefix[code] = (uint16_t)reader->last;
    reader->suffix[code] = pixel;
    reader->size[code] = (uint16_t)(reader->size[reader->last] + 1);
    reader->next++;
    if (reader->next == 1u << reader->width && reader->width < WIDTH_MAX) {
        reader->width++;
    }
}

/* Spells the next string; false at the end of the data or at a code that is not defined. */
static bool read_string(struct gif_reader *reader) {
    const unsigned clear = 1u << reader->first;
    unsigned code;
    do {
        if (!next_code(reader, &code) || code == clear + 1) {
            return false;
        }
        if (code == clear) {
            reset(reader);
        }
    } while (code == clear);
    const bool self = code == reader->next && reader->last >= 0 && code < GIF_CODES;
    if (code >= reader->next && !self) {
        return false;
    }
    if (self) { /* it begins and ends with the first pixel of the string before */
        define(reader, spell(reader, (unsigned)reader->last));
        spell(reader, code);
    } else {
        define(reader, spell(reader, code));
    }
    reader->last = (int)code;
    return true;
}

bool gif_reader_row(struct gif_reader *reader, uint8_t *row, size_t width) {
    size_t x = 0;
    while (x < width) {
        if (reader->used == reader->length && !read_string(reader)) {
            return false;
        }
        const size_t left = reader->length - reader->used, now = left < width - x ? left : width - x;
        memcpy(row + x, reader->string + reader->used, now);
        reader->used += (unsigned)now;
        x += now;
    }
    return true;
}

/* ---- writing ---- */

static enum status flush(struct gif_writer *writer, struct error *err) {
    const size_t size = writer->block[0];
    writer->block[0] = 0;
    if (size == 0) {
        return ST_OK;
    }
    const uint8_t head = (uint8_t)size;
    enum status status = buf_append(writer->output, &head, 1, err);
    return status == ST_OK ? buf_append(writer->output, writer->block + 1, size, err) : status;
}

static enum status put_code(struct gif_writer *writer, unsigned code, struct error *err) {
    enum status status = ST_OK;
    writer->bits |= (uint32_t)code << writer->count;
    writer->count += writer->width;
    while (writer->count >= 8 && status == ST_OK) {
        writer->block[++writer->block[0]] = (uint8_t)writer->bits;
        writer->bits >>= 8;
        writer->count -= 8;
        status = writer->block[0] == BLOCK_MAX ? flush(writer, err) : ST_OK;
    }
    return status;
}

static void forget(struct gif_writer *writer) {
    memset(writer->key, 0, sizeof writer->key);
    writer->width = writer->first + 1;
    writer->next = (1u << writer->first) + 2;
}

enum status gif_writer_begin(struct gif_writer *writer, unsigned first, struct buf *output,
                             struct error *err) {
    const uint8_t head = (uint8_t)first;
    writer->output = output;
    writer->first = first;
    writer->bits = writer->count = 0;
    writer->block[0] = 0;
    writer->prefix = -1;
    forget(writer);
    enum status status = buf_append(output, &head, 1, err);
    return status == ST_OK ? put_code(writer, 1u << first, err) : status;
}

/* The slot of the key, or the free one where it belongs. */
static unsigned find(const struct gif_writer *writer, uint32_t key) {
    unsigned slot = (key * UINT32_C(2654435761)) >> 19;
    while (writer->key[slot] != 0 && writer->key[slot] != key) {
        slot = (slot + 1) % SLOTS;
    }
    return slot;
}

/* Writes the code before `pixel`, and defines that of both. */
static enum status put_prefix(struct gif_writer *writer, unsigned slot, uint32_t key, struct error *err) {
    enum status status = put_code(writer, (unsigned)writer->prefix, err);
    if (status != ST_OK) {
        return status;
    }
    if (writer->next == GIF_CODES) {
        status = put_code(writer, 1u << writer->first, err);
        forget(writer);
        return status;
    }
    if (writer->next == 1u << writer->width) {
        writer->width++;
    }
    writer->key[slot] = key;
    writer->code[slot] = (uint16_t)writer->next++;
    return ST_OK;
}

enum status gif_writer_row(struct gif_writer *writer, const uint8_t *row, size_t width, struct error *err) {
    enum status status = ST_OK;
    for (size_t x = 0; x < width && status == ST_OK; x++) {
        if (writer->prefix < 0) {
            writer->prefix = row[x];
            continue;
        }
        const uint32_t key = ((uint32_t)writer->prefix << 8 | row[x]) + 1;
        const unsigned slot = find(writer, key);
        if (writer->key[slot] == key) {
            writer->prefix = writer->code[slot];
        } else {
            status = put_prefix(writer, slot, key, err);
            writer->prefix = row[x];
        }
    }
    return status;
}

enum status gif_writer_end(struct gif_writer *writer, struct error *err) {
    enum status status = writer->prefix >= 0 ? put_code(writer, (unsigned)writer->prefix, err) : ST_OK;
    if (writer->next == 1u << writer->width && writer->width < WIDTH_MAX) {
        writer->width++; /* the reader has defined a code behind the last one, too */
    }
    status = status == ST_OK ? put_code(writer, (1u << writer->first) + 1, err) : status;
    if (status == ST_OK && writer->count > 0) {
        writer->block[++writer->block[0]] = (uint8_t)writer->bits;
    }
    status = status == ST_OK ? flush(writer, err) : status;
    return status == ST_OK ? buf_append(writer->output, "", 1, err) : status;
}
