/* SPDX-License-Identifier: MIT
 * The items of a HEIF file (ISO/IEC 23008-12) as its boxes list them, for HEIC and AVIF. libheif does not
 * tell the kinds of items, and trusts how they refer to each other. Internal to codecs/. */
#ifndef BLURD_CODECS_BMFF_BMFF_ITEMS_H
#define BLURD_CODECS_BMFF_BMFF_ITEMS_H

#include "codecs/bmff/bmff.h"

enum { BMFF_MIRRORED = 4, BMFF_CROPPED = 16 }; /* of `turned`, beside the quarters of a turn */

struct bmff_item {
    uint32_t id;
    uint32_t type;          /* four letters */
    uint32_t width, height; /* `ispe`; 0: none */
    bool gray;              /* `hvcC` without chroma */
    uint8_t halved;         /* chroma by `hvcC`: 1 is 4:2:0, 2 is 4:2:2, 0 any other */
    bool is_alpha;          /* `auxC` says so */
    bool has_alpha;         /* such an item belongs to it */
    bool is_gain_map;       /* a `tmap` (ISO 21496-1), or `auxC` says so (Apple) */
    bool located;           /* `iloc` has it */
    uint8_t turned;         /* by `irot`, `imir` and `clap`: equal numbers, equal turns */
    struct bytes sources;   /* ids of the pictures that it is made of: its first reference `dimg` */
    struct bytes data;      /* its first extent; empty when that is outside the file */
    struct bytes mastering; /* the body of its `mdcv`, */
    struct bytes light;     /* of its `clli`; empty without one */
    uint64_t size;          /* of its data in bytes, all extents added up */
    uint64_t work;          /* pixels to decode for it, its alpha included; heic_check adds them up */
    uint64_t alpha_work;    /* those of its alpha */
    uint64_t coded;         /* bytes to decode for it, as above */
    uint64_t alpha_coded;
    uint8_t uses;    /* for bmff_items_losses */
    unsigned levels; /* of pictures that it is made of, itself included; 0: not visited */
};

struct bmff_items {
    struct bmff_item *item; /* by id */
    size_t count;
    uint32_t primary;
    const char *title;       /* of the format, for sentences */
    struct bytes file, meta; /* `meta` without version and flags */
    struct bytes references; /* the boxes in `iref` */
    bool wide_references;    /* ids in `iref` have four bytes */
};

/* Fills *items, which the caller ends with bmff_items_finish. The input must outlive it.
 * Takes time in proportion to the size of `meta`. ST_CORRUPT without `meta`, a primary item or items,
 * ST_LIMIT for too many items or references, ST_BUSY without memory. */
enum status bmff_items_read(struct bmff_items *items, struct bytes input, const char *title,
                            struct error *err);

void bmff_items_finish(struct bmff_items *items);

/* NULL when there is none. */
struct bmff_item *bmff_items_find(const struct bmff_items *items, uint32_t id);

/* The next reference in *boxes, which begins as items->references: a box whose body is left with the ids that
 * the item `from` refers to. False at the end. */
bool bmff_items_reference(const struct bmff_items *items, struct bytes *boxes, struct bmff_box *box,
                          uint32_t *from);

/* Takes the next id off the body of a reference; false at its end. */
bool bmff_items_next_id(const struct bmff_items *items, struct bytes *ids, uint32_t *id);

/* Says that a picture is used, too, and what it is made of: bmff_items_losses does not count it any more. */
void bmff_items_use(const struct bmff_items *items, uint32_t id);

/* Bits of codecs/metadata/losses.h for what the file has beside the primary picture, what that is made of,
 * and its alpha: thumbnails, and other pictures, among which are gain maps (`tmap`) and depth. */
unsigned bmff_items_losses(struct bmff_items *items);

/* Whether some item is a gain map, whichever picture it belongs to. */
bool bmff_items_have_gain_map(const struct bmff_items *items);

/* Fills `data` of all items from the box `iloc`. Internal to bmff_items_read. */
void bmff_location_read(struct bmff_items *items);

#endif
