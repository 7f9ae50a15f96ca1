/* SPDX-License-Identifier: MIT */
#include "codecs/bmff/bmff_items.h"

#include <stdlib.h>
#include <string.h>

enum {
    ITEMS_MAX = 2000, /* libheif's time grows with their square: a third of a second */
    PROPERTIES_MAX = 20000,
    REFERENCES_MAX = 20000, /* boxes, */
    LOOKS_MAX = 10000000,   /* which libheif reads for each item anew: a fifth of a second */
    CHROMA_AT = 16,         /* the byte of `hvcC` with the chroma format */
};

static int compare(const void *a, const void *b) {
    uint32_t left = ((const struct bmff_item *)a)->id, right = ((const struct bmff_item *)b)->id;
    return (left > right) - (left < right);
}

struct bmff_item *bmff_items_find(const struct bmff_items *items, uint32_t id) {
    struct bmff_item key = {.id = id};
    return items->count ? bsearch(&key, items->item, items->count, sizeof(key), compare) : NULL;
}

static bool read_infe(struct bytes body, struct bmff_item *item) {
    uint8_t version;
    uint32_t flags;
    uint64_t id, protection, type;
    if (!bmff_version(&body, &version, &flags) || version < 2 || version > 3 ||
        !bmff_number(&body, version == 2 ? 2 : 4, &id) || !bmff_number(&body, 2, &protection) ||
        !bmff_number(&body, 4, &type)) {
        return false;
    }
    *item = (struct bmff_item){
        .id = (uint32_t)id, .type = (uint32_t)type, .is_gain_map = type == bmff_type("tmap")};
    return true;
}

static enum status read_list(struct bmff_items *items, struct error *err) {
    struct bytes iinf;
    struct bmff_box box;
    uint8_t version;
    uint32_t flags;
    uint64_t stated;
    if (!bmff_find(items->meta, "iinf", &iinf) || !bmff_version(&iinf, &version, &flags) ||
        !bmff_number(&iinf, version == 0 ? 2 : 4, &stated)) {
        return fail(err, ST_CORRUPT, "%s is damaged or cut short: it lists no items", items->title);
    }
    for (struct bytes boxes = iinf; bmff_next(&boxes, &box);) {
        items->count++;
    }
    if (items->count > ITEMS_MAX) {
        return fail(err, ST_LIMIT, "%s has %zu items; the limit is %d", items->title, items->count,
                    ITEMS_MAX);
    }
    items->item = calloc(items->count + 1, sizeof(*items->item));
    if (!items->item) {
        return fail(err, ST_BUSY, "out of memory for the items of the picture's file");
    }
    items->count = 0;
    while (bmff_next(&iinf, &box)) {
        if (box.type == bmff_type("infe") && read_infe(box.body, &items->item[items->count])) {
            items->count++;
        }
    }
    qsort(items->item, items->count, sizeof(*items->item), compare);
    for (size_t i = 1; i < items->count; i++) {
        if (items->item[i].id == items->item[i - 1].id) {
            return fail(err, ST_CORRUPT, "%s is damaged: two of its items have the number %u", items->title,
                        items->item[i].id);
        }
    }
    return ST_OK;
}

static bool read_primary(struct bmff_items *items) {
    struct bytes pitm;
    uint8_t version;
    uint32_t flags;
    uint64_t id;
    bool found = bmff_find(items->meta, "pitm", &pitm) && bmff_version(&pitm, &version, &flags) &&
                 bmff_number(&pitm, version == 0 ? 2 : 4, &id);
    items->primary = found ? (uint32_t)id : 0;
    return found;
}

/* The body of `auxC`: a text that ends with a zero. */
static bool is_gain_map(struct bytes name) {
    static const char apple[] = "urn:com:apple:photo:2020:aux:hdrgainmap";
    return name.size >= sizeof apple && memcmp(name.data, apple, sizeof apple) == 0;
}

static bool is_alpha(struct bytes name) {
    static const char *const names[] = {
        "urn:mpeg:hevc:2015:auxid:1",
        "urn:mpeg:avc:2015:auxid:1",
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    };
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++) {
        size_t size = strlen(names[i]) + 1;
        found = name.size >= size && memcmp(name.data, names[i], size) == 0;
    }
    return found;
}

static void apply_property(struct bmff_item *item, const struct bmff_box *property) {
    struct bytes body = property->body;
    uint8_t version;
    uint32_t flags;
    uint64_t width, height;
    if (property->type == bmff_type("ispe") && bmff_version(&body, &version, &flags) &&
        bmff_number(&body, 4, &width) && bmff_number(&body, 4, &height)) {
        item->width = (uint32_t)width, item->height = (uint32_t)height;
    } else if (property->type == bmff_type("hvcC") && body.size > CHROMA_AT) {
        unsigned chroma = body.data[CHROMA_AT] & 3;
        item->gray = chroma == 0;
        item->halved = (uint8_t)(chroma % 3);
    } else if (property->type == bmff_type("auxC") && bmff_version(&body, &version, &flags)) {
        item->is_alpha = item->is_alpha || is_alpha(body);
        item->is_gain_map = item->is_gain_map || is_gain_map(body);
    } else if (property->type == bmff_type("irot") && body.size > 0) {
        item->turned |= body.data[0] & 3;
    } else if (property->type == bmff_type("imir") && body.size > 0) {
        item->turned |= (uint8_t)(BMFF_MIRRORED << (body.data[0] & 1));
    } else if (property->type == bmff_type("clap")) {
        item->turned |= BMFF_CROPPED;
    } else if (property->type == bmff_type("mdcv")) {
        item->mastering = body;
    } else if (property->type == bmff_type("clli")) {
        item->light = body;
    }
}

/* One entry of `ipma`: an item and the numbers of its properties, which count from 1. */
static bool read_association(struct bmff_items *items, struct bytes *ipma, uint8_t version, uint32_t flags,
                             const struct bmff_box *properties, size_t count) {
    uint64_t id, associations, number;
    if (!bmff_number(ipma, version == 0 ? 2 : 4, &id) || !bmff_number(ipma, 1, &associations)) {
        return false;
    }
    struct bmff_item *item = bmff_items_find(items, (uint32_t)id);
    for (; associations > 0; associations--) {
        if (!bmff_number(ipma, flags & 1 ? 2 : 1, &number)) {
            return false;
        }
        number &= flags & 1 ? 0x7FFF : 0x7F; /* without the mark of essential ones */
        if (item && number >= 1 && number <= count) {
            apply_property(item, &properties[number - 1]);
        }
    }
    return true;
}

static void read_associations(struct bmff_items *items, struct bytes iprp, const struct bmff_box *properties,
                              size_t count) {
    struct bmff_box box;
    while (bmff_next(&iprp, &box)) {
        uint8_t version;
        uint32_t flags;
        uint64_t entries;
        if (box.type != bmff_type("ipma") || !bmff_version(&box.body, &version, &flags) ||
            !bmff_number(&box.body, 4, &entries)) {
            continue;
        }
        while (entries > 0 && read_association(items, &box.body, version, flags, properties, count)) {
            entries--;
        }
    }
}

static enum status read_properties(struct bmff_items *items, struct error *err) {
    struct bytes iprp, ipco;
    struct bmff_box *properties = calloc(PROPERTIES_MAX, sizeof(*properties));
    if (!properties) {
        return fail(err, ST_BUSY, "out of memory for the properties of the picture's file");
    }
    size_t count = 0;
    bmff_find(items->meta, "iprp", &iprp);
    bmff_find(iprp, "ipco", &ipco);
    while (count < PROPERTIES_MAX && bmff_next(&ipco, &properties[count])) {
        count++;
    }
    read_associations(items, iprp, properties, count);
    free(properties);
    return ST_OK;
}

bool bmff_items_next_id(const struct bmff_items *items, struct bytes *ids, uint32_t *id) {
    uint64_t value;
    bool found = bmff_number(ids, items->wide_references ? 4 : 2, &value);
    *id = (uint32_t)value;
    return found;
}

bool bmff_items_reference(const struct bmff_items *items, struct bytes *boxes, struct bmff_box *box,
                          uint32_t *from) {
    uint64_t count;
    unsigned size = items->wide_references ? 4 : 2;
    while (bmff_next(boxes, box)) {
        if (bmff_items_next_id(items, &box->body, from) && bmff_number(&box->body, 2, &count)) {
            box->body.size = count * size < box->body.size ? (size_t)count * size : box->body.size;
            return true;
        }
    }
    return false;
}

/* The items that an alpha belongs to. */
static void mark_owners(struct bmff_items *items, struct bytes ids) {
    uint32_t to;
    while (bmff_items_next_id(items, &ids, &to)) {
        struct bmff_item *target = bmff_items_find(items, to);
        if (target) {
            target->has_alpha = true;
        }
    }
}

static enum status read_references(struct bmff_items *items, struct error *err) {
    uint8_t version = 0;
    uint32_t flags, from, count = 0;
    struct bmff_box box;
    bmff_find(items->meta, "iref", &items->references);
    bmff_version(&items->references, &version, &flags);
    items->wide_references = version != 0;
    for (struct bytes boxes = items->references; bmff_items_reference(items, &boxes, &box, &from);) {
        struct bmff_item *source = bmff_items_find(items, from);
        if (++count > REFERENCES_MAX) {
            return fail(err, ST_LIMIT, "%s has more than %d references between its items", items->title,
                        REFERENCES_MAX);
        }
        if (count * items->count > LOOKS_MAX) {
            return fail(err, ST_LIMIT, "%s has more than %zu references between %zu items", items->title,
                        LOOKS_MAX / items->count, items->count);
        }
        if (source && box.type == bmff_type("dimg") && source->sources.size == 0) {
            source->sources = box.body;
        } else if (source && box.type == bmff_type("auxl") && source->is_alpha) {
            mark_owners(items, box.body);
        }
    }
    return ST_OK;
}

enum status bmff_items_read(struct bmff_items *items, struct bytes input, const char *title,
                            struct error *err) {
    uint8_t version;
    uint32_t flags;
    *items = (struct bmff_items){.title = title, .file = input};
    if (!bmff_find(input, "meta", &items->meta) || !bmff_version(&items->meta, &version, &flags)) {
        return fail(err, ST_CORRUPT, "%s is damaged or cut short: it has no box \"meta\"", items->title);
    }
    enum status status = read_list(items, err);
    if (status == ST_OK && !read_primary(items)) {
        status = fail(err, ST_CORRUPT, "%s is damaged: it names no primary picture", items->title);
    }
    if (status == ST_OK) {
        status = read_properties(items, err);
    }
    if (status == ST_OK) {
        bmff_location_read(items);
        status = read_references(items, err);
    }
    return status;
}

void bmff_items_finish(struct bmff_items *items) {
    free(items->item);
    *items = (struct bmff_items){0};
}
