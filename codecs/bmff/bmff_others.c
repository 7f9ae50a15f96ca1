/* SPDX-License-Identifier: MIT
 * Pictures of a file that are not the primary one, nor a part of it. */
#include "codecs/bmff/bmff_items.h"
#include "codecs/metadata/losses.h"

enum {
    DEPTH_MAX = 8, /* pictures that are made of pictures */
    SHOWN = 1,
    THUMBNAIL = 2,
    USED = 4,
};

/* Marks an item and what it is made of, each once. Recurses at most DEPTH_MAX times. */
static void mark(const struct bmff_items *items, uint32_t id, uint8_t use, unsigned depth) {
    struct bmff_item *item = bmff_items_find(items, id);
    if (!item || item->uses & use || depth == DEPTH_MAX) {
        return;
    }
    item->uses |= use;
    for (struct bytes ids = item->sources; bmff_items_next_id(items, &ids, &id);) {
        mark(items, id, use, depth + 1);
    }
}

void bmff_items_use(const struct bmff_items *items, uint32_t id) {
    mark(items, id, USED, 0);
}

static bool belongs_to_shown(const struct bmff_items *items, struct bytes ids) {
    uint32_t id;
    bool found = false;
    while (!found && bmff_items_next_id(items, &ids, &id)) {
        const struct bmff_item *owner = bmff_items_find(items, id);
        found = owner && owner->uses & SHOWN;
    }
    return found;
}

static void mark_companions(const struct bmff_items *items) {
    struct bmff_box box;
    uint32_t from;
    for (struct bytes boxes = items->references; bmff_items_reference(items, &boxes, &box, &from);) {
        const struct bmff_item *item = bmff_items_find(items, from);
        if (box.type == bmff_type("thmb")) {
            mark(items, from, THUMBNAIL, 0);
        } else if (item && item->is_alpha && box.type == bmff_type("auxl") &&
                   belongs_to_shown(items, box.body)) {
            mark(items, from, SHOWN, 0);
        }
    }
}

unsigned bmff_items_losses(struct bmff_items *items) {
    unsigned losses = 0;
    mark(items, items->primary, SHOWN, 0);
    mark_companions(items);
    for (size_t i = 0; i < items->count; i++) {
        const struct bmff_item *item = &items->item[i];
        bool picture = item->width > 0 || item->type == bmff_type("tmap");
        losses |= picture && item->uses == THUMBNAIL ? LOSS_THUMBNAIL : 0;
        losses |= picture && item->uses == 0 ? LOSS_PICTURES : 0;
    }
    return losses;
}

bool bmff_items_have_gain_map(const struct bmff_items *items) {
    bool found = false;
    for (size_t i = 0; i < items->count && !found; i++) {
        found = items->item[i].is_gain_map;
    }
    return found;
}
