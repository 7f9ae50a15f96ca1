/* SPDX-License-Identifier: MIT */
#include "codecs/bmff/bmff_gain_map.h"

enum { HIDDEN = 1 }; /* of the flags of `infe` */

/* The picture that a `tmap` makes brighter stands first, the map second (ISO/IEC 23008-12:2025, 6.6.2.4). */
static bool find_tone(const struct bmff_items *items, struct bmff_gain_map *map) {
    for (size_t i = 0; i < items->count; i++) {
        const struct bmff_item *item = &items->item[i];
        struct bytes ids = item->sources;
        uint32_t base, picture;
        if (item->type == bmff_type("tmap") && bmff_items_next_id(items, &ids, &base) &&
            bmff_items_next_id(items, &ids, &picture) && base == items->primary && picture != base) {
            *map = (struct bmff_gain_map){picture, item->id, .tone = item->data};
            return item->data.size > 0;
        }
    }
    return false;
}

static bool find_auxiliary(const struct bmff_items *items, struct bmff_gain_map *map) {
    struct bmff_box box;
    uint32_t from, to;
    for (struct bytes boxes = items->references; bmff_items_reference(items, &boxes, &box, &from);) {
        const struct bmff_item *item = bmff_items_find(items, from);
        bool auxiliary = box.type == bmff_type("auxl") && item && item->is_gain_map &&
                         item->type != bmff_type("tmap") && from != items->primary;
        while (auxiliary && bmff_items_next_id(items, &box.body, &to)) {
            if (to == items->primary) {
                *map = (struct bmff_gain_map){from, from, {0}, {0}};
                return true;
            }
        }
    }
    return false;
}

static void find_packet(const struct bmff_items *items, struct bmff_gain_map *map) {
    struct bmff_box box;
    uint32_t from, to;
    for (struct bytes boxes = items->references;
         map->packet.size == 0 && bmff_items_reference(items, &boxes, &box, &from);) {
        const struct bmff_item *text = bmff_items_find(items, from);
        bool describes = box.type == bmff_type("cdsc") && text && text->type == bmff_type("mime");
        while (describes && bmff_items_next_id(items, &box.body, &to)) {
            map->packet = to == map->picture ? text->data : map->packet;
        }
    }
}

bool bmff_gain_map_find(const struct bmff_items *items, struct bmff_gain_map *map) {
    struct bytes tracks;
    if (bmff_find(items->file, "moov", &tracks) || (!find_tone(items, map) && !find_auxiliary(items, map))) {
        return false;
    }
    const struct bmff_item *base = bmff_items_find(items, items->primary);
    const struct bmff_item *picture = bmff_items_find(items, map->picture);
    find_packet(items, map);
    return base && picture && base->turned == picture->turned;
}

/* The place in the copy of a part of the file. */
static uint8_t *in_copy(const struct bmff_items *items, const struct buf *copy, struct bytes part) {
    return copy->data + (part.data - items->file.data);
}

static bool write_primary(const struct bmff_items *items, uint32_t id, const struct buf *copy) {
    struct bytes pitm;
    uint8_t version;
    uint32_t flags;
    bool found = bmff_find(items->meta, "pitm", &pitm) && bmff_version(&pitm, &version, &flags);
    unsigned size = found && version > 0 ? 4 : 2;
    if (!found || pitm.size < size || (size == 2 && id > UINT16_MAX)) {
        return false;
    }
    uint8_t *to = in_copy(items, copy, pitm);
    for (unsigned i = 0; i < size; i++) {
        to[i] = (uint8_t)(id >> 8 * (size - 1 - i));
    }
    return true;
}

/* Maps are mostly hidden, which libheif obeys. */
static void show(const struct bmff_items *items, uint32_t id, const struct buf *copy) {
    struct bytes iinf;
    struct bmff_box box;
    uint8_t version = 0;
    uint32_t flags;
    uint64_t number = 0;
    bmff_find(items->meta, "iinf", &iinf);
    bmff_version(&iinf, &version, &flags);
    bmff_number(&iinf, version == 0 ? 2 : 4, &number);
    while (bmff_next(&iinf, &box)) {
        struct bytes body = box.body;
        if (box.type == bmff_type("infe") && bmff_version(&body, &version, &flags) &&
            bmff_number(&body, version == 3 ? 4 : 2, &number) && number == id) {
            in_copy(items, copy, box.body)[3] &= (uint8_t)~HIDDEN;
        }
    }
}

enum status bmff_gain_map_file(struct bytes file, const char *title, struct buf *copy, struct error *err) {
    struct bmff_items items;
    struct bmff_gain_map map;
    buf_init(copy, file.size);
    enum status status = bmff_items_read(&items, file, title, err);
    if (status == ST_OK && !bmff_gain_map_find(&items, &map)) {
        status = fail(err, ST_UNSUPPORTED, "%s has no gain map", title);
    }
    status = status == ST_OK ? buf_append(copy, file.data, file.size, err) : status;
    if (status == ST_OK && !write_primary(&items, map.picture, copy)) {
        status = fail(err, ST_UNSUPPORTED, "%s cannot name its gain map as its picture", title);
    }
    if (status == ST_OK) {
        show(&items, map.picture, copy);
    }
    bmff_items_finish(&items);
    return status;
}
