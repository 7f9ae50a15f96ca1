/* SPDX-License-Identifier: MIT */
#include "codecs/bmff/bmff.h"

#include <string.h>

#include "codecs/peek.h"

enum {
    FTYP_HEAD = 16,
    MAJOR_BRAND = 8,
    FTYP_MAX = 1024,
    PEEK_MAX = 64 << 10,  /* bytes of a box that are read for an estimate */
    PEEK_BOXES_MAX = 100, /* boxes of a file that are looked at for one */
    HEAD = 8,             /* size and type */
    FULL_HEAD = 4,        /* version and flags */
    SIZE_FOLLOWS = 1,     /* 8 bytes of size after the type */
};

bool bmff_has_brand(struct bytes input, const char brand[static 4]) {
    if (input.size < FTYP_HEAD || memcmp(input.data + 4, "ftyp", 4) != 0) {
        return false;
    }
    size_t size = bytes_be32(input.data);
    size = size > input.size ? input.size : size;
    size = size > FTYP_MAX ? FTYP_MAX : size;
    bool found = memcmp(input.data + MAJOR_BRAND, brand, 4) == 0;
    for (size_t at = FTYP_HEAD; at + 4 <= size && !found; at += 4) {
        found = memcmp(input.data + at, brand, 4) == 0;
    }
    return found;
}

bool bmff_number(struct bytes *from, unsigned size, uint64_t *value) {
    *value = 0;
    if (from->size < size) {
        return false;
    }
    for (unsigned i = 0; i < size; i++) {
        *value = *value << 8 | from->data[i];
    }
    if (size > 0) {
        from->data += size, from->size -= size;
    }
    return true;
}

bool bmff_version(struct bytes *body, uint8_t *version, uint32_t *flags) {
    uint64_t value;
    bool whole = bmff_number(body, FULL_HEAD, &value);
    *version = (uint8_t)(value >> 24);
    *flags = (uint32_t)(value & 0xFFFFFF);
    return whole;
}

/* A size of 0 is the rest. */
bool bmff_next(struct bytes *rest, struct bmff_box *box) {
    uint64_t size, type, head = HEAD;
    struct bytes after = *rest;
    if (!bmff_number(&after, 4, &size) || !bmff_number(&after, 4, &type)) {
        return false;
    }
    if (size == SIZE_FOLLOWS) {
        head += 8;
        if (!bmff_number(&after, 8, &size)) {
            return false;
        }
    } else if (size == 0) {
        size = rest->size;
    }
    if (size < head) {
        return false;
    }
    size_t body = size - head < after.size ? (size_t)(size - head) : after.size;
    *box = (struct bmff_box){(uint32_t)type, {after.data, body}};
    *rest = (struct bytes){after.data + body, after.size - body};
    return true;
}

bool bmff_find(struct bytes boxes, const char type[static 4], struct bytes *body) {
    struct bmff_box box;
    *body = (struct bytes){0};
    while (bmff_next(&boxes, &box)) {
        if (box.type == bmff_type(type)) {
            *body = box.body;
            return true;
        }
    }
    return false;
}

static bool contains(struct bytes text, const char *word) {
    return text.size > 0 && memmem(text.data, text.size, word, strlen(word)) != NULL;
}

static void read_property(struct bmff_box *box, struct bmff_facts *facts) {
    uint8_t version;
    uint32_t flags;
    uint64_t first, second;
    if (!bmff_version(&box->body, &version, &flags)) {
        return;
    }
    if (box->type == bmff_type("auxC")) {
        facts->alpha = facts->alpha || contains(box->body, "alpha") || contains(box->body, "auxid:1");
    } else if (box->type == bmff_type("ispe") && bmff_number(&box->body, 4, &first) &&
               bmff_number(&box->body, 4, &second) &&
               first * second > (uint64_t)facts->width * facts->height) {
        facts->width = (uint32_t)first;
        facts->height = (uint32_t)second;
    } else if (box->type == bmff_type("pixi") && bmff_number(&box->body, 1, &first) &&
               bmff_number(&box->body, 1, &second)) {
        facts->channels = first > facts->channels ? (uint8_t)first : facts->channels;
        facts->deep = facts->deep || second > 8;
    }
}

/* The data of the pictures may precede it. */
static struct bytes find_meta(struct bytes input) {
    struct bmff_box box = {0};
    for (unsigned i = 0; i < PEEK_BOXES_MAX && bmff_next(&input, &box); i++) {
        if (box.type == bmff_type("meta")) {
            return (struct bytes){box.body.data, box.body.size < PEEK_MAX ? box.body.size : PEEK_MAX};
        }
    }
    return (struct bytes){0};
}

bool bmff_look(struct bytes input, struct bmff_facts *facts) {
    struct bytes iprp, ipco, meta = find_meta(input);
    struct bmff_box box;
    uint8_t version;
    uint32_t flags;
    *facts = (struct bmff_facts){0};
    if (!bmff_version(&meta, &version, &flags) || !bmff_find(meta, "iprp", &iprp) ||
        !bmff_find(iprp, "ipco", &ipco)) {
        return false;
    }
    while (bmff_next(&ipco, &box)) {
        read_property(&box, facts);
    }
    return facts->width > 0;
}

bool bmff_peek(struct bytes input, struct peek *peek) {
    struct bmff_facts facts;
    bool known = bmff_look(input, &facts);
    *peek = (struct peek){
        .width = facts.width,
        .height = facts.height,
        .channels = facts.alpha           ? 4
                    : facts.channels == 1 ? 1
                                          : 3,
        .depth = facts.deep ? 16 : 8,
    };
    return known;
}
