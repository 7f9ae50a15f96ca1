/* SPDX-License-Identifier: MIT */
#include "server/series/mjpeg.h"

#include <string.h>

enum state {
    FIRST,   /* before the first SOI */
    FIRST_2, /* behind its FF */
    BETWEEN, /* behind an EOI */
    BETWEEN_2,
    BETWEEN_3, /* behind FF D8: a frame, if FF follows */
    BEGUN,     /* behind the SOI of a frame: FF has to come */
    MARKER,    /* a marker has to come; what is not FF is skipped */
    CODE,      /* behind the FF of a marker */
    LENGTH,    /* the first byte of a segment's length */
    LENGTH_2,
    SEGMENT,
    SCAN,   /* entropy-coded bytes */
    SCAN_2, /* behind an FF among them */
};

enum { IDENTIFIER = 4 }; /* bytes of "MPF" with its zero, in front of an index */
enum { TEM = 0x01, RST0 = 0xD0, RST7 = 0xD7, SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, APP2 = 0xE2 };

const uint8_t mjpeg_begin[2] = {0xFF, SOI}, mjpeg_end[2] = {0xFF, EOI};

/* ---- the index of pictures in a file ---- */

static uint32_t number(const uint8_t *at, unsigned bytes, bool little) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        value = value << 8 | at[little ? bytes - 1 - i : i];
    }
    return value;
}

/* The entries begin at `at`; the first is of the frame itself. */
static void read_entries(struct mjpeg *mjpeg, const uint8_t *index, size_t size, size_t at, size_t count,
                         bool little) {
    enum { ENTRY = 16, OFFSET = 8 };
    for (size_t i = 1; i < count && at <= size && (i + 1) * ENTRY <= size - at; i++) {
        if (mjpeg->furthers < MJPEG_FURTHER_MAX) {
            uint64_t offset = number(index + at + i * ENTRY + OFFSET, 4, little);
            mjpeg->further_at[mjpeg->furthers++] = mjpeg->index_at + offset;
        }
    }
}

/* A segment with an index has been read: "MPF", a zero byte, and a TIFF structure whose first directory has
 * the entries as tag B002. */
static void read_index(struct mjpeg *mjpeg) {
    enum { HEADER = 8, ROW = 12, ENTRIES = 0xB002 };
    if (mjpeg->index_size < IDENTIFIER + HEADER || memcmp(mjpeg->index, "MPF", IDENTIFIER) != 0) {
        return;
    }
    const uint8_t *index = mjpeg->index + IDENTIFIER;
    const size_t size = mjpeg->index_size - IDENTIFIER;
    const bool little = index[0] == 'I';
    size_t at = number(index + 4, 4, little);
    if (at > size - 2) {
        return;
    }
    unsigned rows = number(index + at, 2, little);
    for (at += 2; rows > 0 && at + ROW <= size; rows--, at += ROW) {
        if (number(index + at, 2, little) == ENTRIES) {
            read_entries(mjpeg, index, size, number(index + at + 8, 4, little),
                         number(index + at + 4, 4, little) / 16, little);
        }
    }
}

/* ---- the bytes ---- */

static bool is_further(const struct mjpeg *mjpeg, uint64_t at) {
    bool found = false;
    for (unsigned i = 0; i < mjpeg->furthers; i++) {
        found |= mjpeg->further_at[i] == at;
    }
    return found;
}

/* FF D8 has been read. Returns whether a frame begins with it. */
static bool begin(struct mjpeg *mjpeg, uint64_t at) {
    mjpeg->state = BEGUN;
    mjpeg->scanned = false;
    mjpeg->further = is_further(mjpeg, at);
    if (!mjpeg->further) {
        mjpeg->open = true;
        mjpeg->at = 2;
        mjpeg->index_size = 0;
        mjpeg->furthers = 0;
    }
    return !mjpeg->further;
}

static bool stands_alone(uint8_t code) {
    return code == TEM || (code >= RST0 && code <= RST7);
}

/* A marker's second byte. */
static enum mjpeg_event marker(struct mjpeg *mjpeg, uint8_t code) {
    mjpeg->code = code;
    if (code == EOI) {
        mjpeg->state = BETWEEN;
        mjpeg->open = false;
        return mjpeg->further ? MJPEG_PART : MJPEG_END;
    }
    if (code == SOI) {
        enum mjpeg_event event = mjpeg->open ? MJPEG_CUT : MJPEG_BEGIN;
        mjpeg->furthers = 0; /* the index is of a file that has ended early */
        return mjpeg->scanned && begin(mjpeg, mjpeg->at) ? event : MJPEG_FOREIGN;
    }
    mjpeg->state = code == 0 || stands_alone(code) ? (mjpeg->scanned ? SCAN : MARKER) : LENGTH;
    return MJPEG_PART;
}

/* Whether the segment may be the index of a frame, which has one at most. */
static bool holds_index(const struct mjpeg *mjpeg) {
    return mjpeg->code == APP2 && mjpeg->open && mjpeg->furthers == 0;
}

static void end_segment(struct mjpeg *mjpeg) {
    if (holds_index(mjpeg)) {
        read_index(mjpeg);
        mjpeg->index_size = 0;
    }
    mjpeg->scanned |= mjpeg->code == SOS;
    mjpeg->state = mjpeg->scanned ? SCAN : MARKER;
}

static enum mjpeg_event begin_segment(struct mjpeg *mjpeg, uint8_t byte) {
    mjpeg->left = mjpeg->left << 8 | byte;
    if (mjpeg->left < 2) {
        return MJPEG_FOREIGN;
    }
    mjpeg->left -= 2;
    if (holds_index(mjpeg)) {
        mjpeg->index_at = mjpeg->at + 1 + IDENTIFIER;
    }
    mjpeg->state = SEGMENT;
    if (mjpeg->left == 0) {
        end_segment(mjpeg);
    }
    return MJPEG_PART;
}

/* One byte, which is not one of many; mjpeg->at does not count it yet. *unread: it has to be read again. */
static enum mjpeg_event take(struct mjpeg *mjpeg, uint8_t byte, bool *unread) {
    switch ((enum state)mjpeg->state) {
    case FIRST:
        mjpeg->state = FIRST_2;
        return byte == 0xFF ? MJPEG_PART : MJPEG_FOREIGN;
    case FIRST_2:
        mjpeg->state = BETWEEN_3;
        return byte == SOI ? MJPEG_PART : MJPEG_FOREIGN;
    case BETWEEN:
        mjpeg->state = byte == 0xFF ? BETWEEN_2 : BETWEEN;
        return MJPEG_PART;
    case BETWEEN_2:
        mjpeg->state = byte == SOI ? BETWEEN_3 : byte == 0xFF ? BETWEEN_2 : BETWEEN;
        return MJPEG_PART;
    case BETWEEN_3:
        *unread = true;
        mjpeg->state = BETWEEN;
        return byte == 0xFF && begin(mjpeg, mjpeg->at - 2) ? MJPEG_BEGIN : MJPEG_PART;
    case BEGUN:
        mjpeg->state = CODE;
        return byte == 0xFF ? MJPEG_PART : MJPEG_FOREIGN;
    case MARKER:
        mjpeg->state = byte == 0xFF ? CODE : MARKER;
        return MJPEG_PART;
    case CODE:
        return byte == 0xFF ? MJPEG_PART : marker(mjpeg, byte);
    case LENGTH:
        mjpeg->left = byte;
        mjpeg->state = LENGTH_2;
        return MJPEG_PART;
    case LENGTH_2:
        return begin_segment(mjpeg, byte);
    case SCAN:
        mjpeg->state = byte == 0xFF ? SCAN_2 : SCAN;
        return MJPEG_PART;
    default: /* SCAN_2 */
        if (byte == 0 || (byte >= RST0 && byte <= RST7)) {
            mjpeg->state = SCAN;
            return MJPEG_PART;
        }
        return byte == 0xFF ? MJPEG_PART : marker(mjpeg, byte);
    }
}

/* As much of a segment as is there. */
static size_t skip_segment(struct mjpeg *mjpeg, const uint8_t *data, size_t size) {
    size_t count = size < mjpeg->left ? size : mjpeg->left;
    size_t room = sizeof mjpeg->index - mjpeg->index_size;
    if (holds_index(mjpeg)) {
        memcpy(mjpeg->index + mjpeg->index_size, data, count < room ? count : room);
        mjpeg->index_size += count < room ? count : room;
    }
    mjpeg->left -= (uint32_t)count;
    if (mjpeg->left == 0) {
        end_segment(mjpeg);
    }
    return count;
}

/* The bytes that change nothing: those before the next FF of a scan, or between frames. */
static size_t skip_usual(const uint8_t *data, size_t size) {
    const uint8_t *found = memchr(data, 0xFF, size);
    return found ? (size_t)(found - data) : size;
}

/* Bytes that are read at once, since they change nothing; 0: the next one has to be looked at by itself. */
static size_t skip(struct mjpeg *mjpeg, const uint8_t *data, size_t size) {
    if (mjpeg->state == SEGMENT) {
        return skip_segment(mjpeg, data, size);
    }
    return mjpeg->state == SCAN || mjpeg->state == BETWEEN ? skip_usual(data, size) : 0;
}

struct mjpeg_piece mjpeg_read(struct mjpeg *mjpeg, const uint8_t *data, size_t size) {
    struct mjpeg_piece piece = {MJPEG_PART, 0, 0};
    while (piece.read < size && piece.event == MJPEG_PART) {
        const bool kept = mjpeg->open;
        const size_t from = piece.read;
        bool unread = false;
        piece.read += skip(mjpeg, data + from, size - from);
        mjpeg->at += piece.read - from;
        if (piece.read == from) {
            piece.event = take(mjpeg, data[from], &unread);
            piece.read += !unread;
            mjpeg->at += piece.event != MJPEG_BEGIN && piece.event != MJPEG_CUT && !unread;
        }
        piece.kept += kept ? piece.read - from : 0;
    }
    if (piece.event == MJPEG_CUT) { /* without the SOI of the next frame, as far as it is in this piece */
        piece.kept -= piece.kept < 2 ? piece.kept : 2;
    }
    return piece;
}

enum mjpeg_event mjpeg_finish(struct mjpeg *mjpeg) {
    const bool open = mjpeg->open;
    mjpeg->open = false;
    if (mjpeg->state == FIRST_2 || (open && !mjpeg->scanned)) {
        return MJPEG_FOREIGN;
    }
    return open ? MJPEG_CUT : MJPEG_PART;
}
