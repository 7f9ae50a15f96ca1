/* SPDX-License-Identifier: MIT
 * The head of a codestream (ISO/IEC 18181-1, SizeHeader and ImageMetadata), bit by bit from the lowest. */
#include "codecs/bmff/bmff.h"
#include "codecs/jxl/jxl.h"
#include "codecs/peek.h"

enum { BOXES_MAX = 100, INDEX_SIZE = 4 /* of a part of the codestream, before its data */ };

struct bits {
    struct bytes from;
    size_t at; /* in bits; those behind the end are 0 */
};

static uint32_t take(struct bits *bits, unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++, bits->at++) {
        size_t byte = bits->at / 8;
        uint32_t bit = byte < bits->from.size ? bits->from.data[byte] >> bits->at % 8 & 1u : 0;
        value |= bit << i;
    }
    return value;
}

/* One of four widths, by two bits. */
static uint32_t take_one(struct bits *bits, const uint8_t widths[static 4]) {
    return take(bits, widths[take(bits, 2)]);
}

static uint32_t take_side(struct bits *bits, bool eighths) {
    static const uint8_t widths[] = {9, 13, 18, 30};
    return eighths ? 8 * (take(bits, 5) + 1) : take_one(bits, widths) + 1;
}

static void take_size(struct bits *bits, uint32_t *width, uint32_t *height) {
    static const uint8_t ratios[8][2] = {{0}, {1, 1}, {12, 10}, {4, 3}, {3, 2}, {16, 9}, {5, 4}, {2, 1}};
    bool eighths = take(bits, 1);
    *height = take_side(bits, eighths);
    const uint8_t *ratio = ratios[take(bits, 3)];
    *width = ratio[1] ? (uint32_t)((uint64_t)*height * ratio[0] / ratio[1]) : take_side(bits, eighths);
}

static uint8_t take_depth(struct bits *bits) {
    static const uint8_t whole[] = {8, 10, 12};
    if (take(bits, 1)) { /* floating point */
        return 16;
    }
    uint32_t kind = take(bits, 2), depth = kind < 3 ? whole[kind] : take(bits, 6) + 1;
    return depth > 8 ? 16 : 8;
}

/* Grey is said by the colours, which stand too far behind: a guess needs no more than the alpha. One with a
 * preview or an animation is taken for one of the usual kind. */
static void take_kind(struct bits *bits, struct peek *peek) {
    uint32_t width, height;
    if (take(bits, 1)) { /* all as usual */
        return;
    }
    if (take(bits, 1)) {
        take(bits, 3); /* orientation */
        if (take(bits, 1)) {
            take_size(bits, &width, &height);
        }
        if (take(bits, 2)) {
            return;
        }
    }
    peek->depth = take_depth(bits);
    take(bits, 1);
    peek->channels = take(bits, 2) ? 4 : 3;
}

/* The codestream, or its first part; empty without one. */
static struct bytes codestream_of(struct bytes input) {
    struct bmff_box box;
    if (input.size > 0 && input.data[0] != 0) {
        return input;
    }
    for (unsigned i = 0; i < BOXES_MAX && bmff_next(&input, &box); i++) {
        if (box.type == bmff_type("jxlc")) {
            return box.body;
        }
        if (box.type == bmff_type("jxlp") && box.body.size >= INDEX_SIZE) {
            return (struct bytes){box.body.data + INDEX_SIZE, box.body.size - INDEX_SIZE};
        }
    }
    return (struct bytes){0};
}

bool jxl_peek(struct bytes input, struct peek *peek) {
    struct bits bits = {.from = codestream_of(input)};
    *peek = (struct peek){.channels = 3, .depth = 8};
    if (take(&bits, 16) != 0x0AFF) {
        return false;
    }
    take_size(&bits, &peek->width, &peek->height);
    take_kind(&bits, peek);
    return true;
}
