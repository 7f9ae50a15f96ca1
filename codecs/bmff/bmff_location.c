/* SPDX-License-Identifier: MIT
 * The box `iloc`: where the data of items are. */
#include "codecs/bmff/bmff_items.h"

enum { IN_IDAT = 1 };

/* Sizes of the numbers in the box, in bytes. */
struct widths {
    unsigned id, count, offset, length, base, index;
    uint8_t version;
};

struct location {
    uint64_t id, method, offset, length, size;
};

static bool read_widths(struct bytes *iloc, struct widths *widths) {
    uint8_t version;
    uint32_t flags;
    uint64_t sizes;
    if (!bmff_version(iloc, &version, &flags) || version > 2 || !bmff_number(iloc, 2, &sizes)) {
        return false;
    }
    *widths = (struct widths){
        .id = version < 2 ? 2 : 4,
        .count = version < 2 ? 2 : 4,
        .offset = (unsigned)(sizes >> 12 & 15),
        .length = (unsigned)(sizes >> 8 & 15),
        .base = (unsigned)(sizes >> 4 & 15),
        .index = version == 0 ? 0 : (unsigned)(sizes & 15),
        .version = version,
    };
    return widths->offset <= 8 && widths->length <= 8 && widths->base <= 8 && widths->index <= 8;
}

/* Reads one entry with all its extents: the first is its data, `size` that of all. An extent that does not
 * say how long it is, or is longer than the file, counts as the file. */
static bool read_location(struct bytes *iloc, const struct widths *widths, size_t file,
                          struct location *location) {
    uint64_t reference, base, extents, index, offset, length;
    *location = (struct location){0};
    if (!bmff_number(iloc, widths->id, &location->id) ||
        !bmff_number(iloc, widths->version == 0 ? 0 : 2, &location->method) ||
        !bmff_number(iloc, 2, &reference) || !bmff_number(iloc, widths->base, &base) ||
        !bmff_number(iloc, 2, &extents)) {
        return false;
    }
    location->method &= 15;
    for (uint64_t i = 0; i < extents; i++) {
        if (!bmff_number(iloc, widths->index, &index) || !bmff_number(iloc, widths->offset, &offset) ||
            !bmff_number(iloc, widths->length, &length)) {
            return false;
        }
        location->size += widths->length == 0 || length > file ? file : length;
        if (i == 0) {
            location->offset = base + offset, location->length = length;
        }
    }
    return true;
}

static struct bytes data_at(const struct location *location, struct bytes from) {
    bool inside = from.size > 0 && location->method <= IN_IDAT && location->offset <= from.size &&
                  location->length <= from.size - location->offset;
    return inside ? (struct bytes){from.data + location->offset, (size_t)location->length}
                  : (struct bytes){0};
}

/* Of several entries for an item the first counts. */
void bmff_location_read(struct bmff_items *items) {
    struct bytes iloc, idat;
    struct widths widths;
    struct location location;
    uint64_t count;
    bmff_find(items->meta, "iloc", &iloc);
    bmff_find(items->meta, "idat", &idat);
    if (!read_widths(&iloc, &widths) || !bmff_number(&iloc, widths.count, &count)) {
        return;
    }
    for (; count > 0 && read_location(&iloc, &widths, items->file.size, &location); count--) {
        struct bmff_item *item = bmff_items_find(items, (uint32_t)location.id);
        if (item && !item->located) {
            item->located = true;
            item->size = location.size;
            item->data = data_at(&location, location.method == IN_IDAT ? idat : items->file);
        }
    }
}
