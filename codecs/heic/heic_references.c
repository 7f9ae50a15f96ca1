/* SPDX-License-Identifier: MIT
 * The copy ends with a new box `meta`; the old one becomes free space, so that the data stay where they are.
 */
#include "codecs/heic/heic_references.h"

#include <string.h>

enum { HEAD = 8, FULL_HEAD = 12 };

static bool is_mended(uint32_t type) {
    return type == bmff_type("auxl") || type == bmff_type("thmb") || type == bmff_type("cdsc");
}

static bool is_picture(const struct bmff_item *item) {
    static const char types[][5] = {"hvc1", "grid", "iden", "iovl"};
    bool found = false;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types) && item; i++) {
        found = found || item->type == bmff_type(types[i]);
    }
    return found;
}

/* The picture that a reference is to, or that the gain map is made of that it is to; NULL for neither. */
static const struct bmff_item *find_picture(const struct bmff_items *items, uint32_t id) {
    const struct bmff_item *item = bmff_items_find(items, id);
    if (item && item->type == bmff_type("tmap")) {
        struct bytes sources = item->sources;
        item = bmff_items_next_id(items, &sources, &id) ? bmff_items_find(items, id) : NULL;
    }
    return is_picture(item) ? item : NULL;
}

/* The primary picture if it is one of them, else the first picture. */
static const struct bmff_item *choose(const struct bmff_items *items, struct bytes ids) {
    const struct bmff_item *chosen = NULL;
    for (uint32_t id; bmff_items_next_id(items, &ids, &id);) {
        const struct bmff_item *item = find_picture(items, id);
        chosen = !chosen || (item && item->id == items->primary) ? item : chosen;
    }
    return chosen;
}

static bool is_plain(const struct bmff_items *items, struct bytes ids) {
    uint32_t id;
    return bmff_items_next_id(items, &ids, &id) && ids.size == 0 && is_picture(bmff_items_find(items, id));
}

static bool needs_mending(const struct bmff_items *items) {
    struct bmff_box box;
    uint32_t from;
    bool found = false;
    for (struct bytes boxes = items->references;
         !found && bmff_items_reference(items, &boxes, &box, &from);) {
        found = is_mended(box.type) && !is_plain(items, box.body);
    }
    return found;
}

/* The buffer has room for all that is put into it. */
static void put(struct buf *copy, struct bytes bytes) {
    if (bytes.size > 0) {
        memcpy(copy->data + copy->size, bytes.data, bytes.size);
        copy->size += bytes.size;
    }
}

static void put_number(struct buf *copy, uint32_t value, unsigned size) {
    for (unsigned i = size; i > 0; i--) {
        copy->data[copy->size++] = (uint8_t)(value >> 8 * (i - 1));
    }
}

static size_t begin_box(struct buf *copy, uint32_t type) {
    put_number(copy, 0, 4);
    put_number(copy, type, 4);
    return copy->size - HEAD;
}

static void end_box(struct buf *copy, size_t begin) {
    bytes_put_be32(copy->data + begin, (uint32_t)(copy->size - begin));
}

static void put_references(const struct bmff_items *items, struct buf *copy) {
    unsigned size = items->wide_references ? 4 : 2;
    struct bmff_box box;
    uint32_t from;
    size_t begin = begin_box(copy, bmff_type("iref"));
    put_number(copy, (uint32_t)items->wide_references << 24, 4);
    for (struct bytes boxes = items->references; bmff_items_reference(items, &boxes, &box, &from);) {
        const struct bmff_item *one = is_mended(box.type) ? choose(items, box.body) : NULL;
        if (is_mended(box.type) && !one) {
            continue;
        }
        size_t reference = begin_box(copy, box.type);
        put_number(copy, from, size);
        put_number(copy, one ? 1 : (uint32_t)(box.body.size / size), 2);
        if (one) {
            put_number(copy, one->id, size);
        } else {
            put(copy, (struct bytes){box.body.data, box.body.size / size * size});
        }
        end_box(copy, reference);
    }
    end_box(copy, begin);
}

/* The boxes in `meta`, with other references. */
static void put_meta(const struct bmff_items *items, struct buf *copy) {
    struct bytes rest = items->meta;
    struct bmff_box box;
    size_t begin = begin_box(copy, bmff_type("meta"));
    put_number(copy, 0, 4);
    put_references(items, copy);
    while (bmff_next(&rest, &box)) {
        if (box.type != bmff_type("iref")) {
            size_t one = begin_box(copy, box.type);
            put(copy, box.body);
            end_box(copy, one);
        }
    }
    end_box(copy, begin);
}

/* The file as it is, but without `meta`, and with the size of a last box that has none. */
static void put_file(struct bytes file, struct buf *copy) {
    struct bmff_box box;
    put(copy, file);
    for (struct bytes rest = file, before = file; bmff_next(&rest, &box); before = rest) {
        uint8_t *head = copy->data + (before.data - file.data);
        if (bytes_be32(head) == 0) {
            bytes_put_be32(head, (uint32_t)before.size);
        }
        if (box.type == bmff_type("meta")) {
            bytes_put_be32(head + 4, bmff_type("free"));
        }
    }
}

enum status heic_references_mend(const struct bmff_items *items, struct buf *copy, struct error *err) {
    size_t room = items->file.size + 2 * (items->meta.size + FULL_HEAD);
    if (!needs_mending(items) || items->file.size > INT32_MAX) {
        return ST_OK;
    }
    buf_init(copy, room);
    enum status status = buf_reserve(copy, room, err);
    if (status == ST_OK) {
        put_file(items->file, copy);
        put_meta(items, copy);
    }
    return status;
}
