/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/sequential/jpeg_dec_bytes.h"

#include <string.h>

enum { MARKER = 0xFF };

/* Copies input to the window up to its end, or to that of the segment, and returns the end. */
static uint8_t *unstuff(struct jpeg_dec_bytes *bytes, uint8_t *to) {
    uint8_t *end = bytes->window + JPEG_DEC_BYTES_WINDOW;
    const uint8_t *data = bytes->input.data;
    while (to < end) {
        size_t left = bytes->input.size - bytes->from;
        size_t room = (size_t)(end - to);
        const uint8_t *from = data + bytes->from;
        const uint8_t *found = left > 0 ? memchr(from, MARKER, left < room ? left : room) : NULL;
        size_t plain = found ? (size_t)(found - from) : left < room ? left : room;
        memcpy(to, from, plain);
        to += plain;
        bytes->from += plain;
        if (!found && plain < left) {
            break;
        }
        if (!found || left - plain < 2 || found[1] != 0) {
            bytes->complete = true;
            break;
        }
        *to++ = MARKER; /* there is room: it is in the piece that was searched */
        bytes->from += 2;
    }
    return to;
}

static void fill(struct jpeg_dec_bytes *bytes, uint8_t *to) {
    uint8_t *end = unstuff(bytes, to);
    bytes->end = end;
    bytes->limit = bytes->complete ? end : end - JPEG_DEC_BYTES_BATCH;
}

void jpeg_dec_bytes_start(struct jpeg_dec_bytes *bytes, struct bytes input, size_t from,
                          struct jpeg_dec_bits *bits) {
    bytes->input = input;
    bytes->from = from;
    bytes->complete = false;
    fill(bytes, bytes->window);
    *bits = (struct jpeg_dec_bits){.at = bytes->window};
}

/* Whether no more bits were used than the window holds. */
static bool within(const struct jpeg_dec_bytes *bytes, const struct jpeg_dec_bits *bits) {
    return (bits->at - bytes->end) * 8 <= (ptrdiff_t)bits->count;
}

bool jpeg_dec_bytes_more(struct jpeg_dec_bytes *bytes, struct jpeg_dec_bits *bits) {
    if (bytes->complete) {
        return within(bytes, bits);
    }
    size_t rest = (size_t)(bytes->end - bits->at);
    memmove(bytes->window, bits->at, rest);
    bits->at = bytes->window;
    fill(bytes, bytes->window + rest);
    return true;
}

bool jpeg_dec_bytes_finish(struct jpeg_dec_bytes *bytes, const struct jpeg_dec_bits *bits, size_t *marker) {
    if (!within(bytes, bits)) {
        return false;
    }
    while (!bytes->complete) {
        fill(bytes, bytes->window);
    }
    *marker = bytes->from;
    return true;
}
