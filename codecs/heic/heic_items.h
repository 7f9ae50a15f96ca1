/* SPDX-License-Identifier: MIT
 * The items of a HEIF file (ISO/IEC 23008-12) as its boxes list them. libheif does not tell the kinds of
 * items, and trusts how they refer to each other. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_ITEMS_H
#define BLURD_CODECS_HEIC_HEIC_ITEMS_H

#include "codecs/bmff.h"

struct heic_item {
    uint32_t id;
    uint32_t type;          /* four letters */
    uint32_t width, height; /* `ispe`; 0: none */
    bool gray;              /* `hvcC` without chroma */
    bool is_alpha;          /* `auxC` says so */
    bool has_alpha;         /* such an item belongs to it */
};

struct heic_items {
    struct heic_item *item; /* by id */
    size_t count;
    uint32_t primary;
    struct bytes file, meta; /* `meta` without version and flags */
    struct bytes references; /* the boxes in `iref` */
    bool wide_references;    /* ids in `iref` have four bytes */
};

/* Fills *items, an all-zero struct that the caller ends with heic_items_finish. The input must outlive it.
 * ST_CORRUPT without `meta`, a primary item or items, ST_LIMIT for too many items, ST_BUSY without memory. */
enum status heic_items_read(struct heic_items *items, struct bytes input, struct error *err);

void heic_items_finish(struct heic_items *items);

/* NULL when there is none. */
struct heic_item *heic_items_find(const struct heic_items *items, uint32_t id);

/* The next reference in *boxes, which begins as items->references: a box whose body is left with the ids that
 * the item `from` refers to. False at the end. */
bool heic_items_reference(const struct heic_items *items, struct bytes *boxes, struct bmff_box *box,
                          uint32_t *from);

/* Takes the next id off the body of a reference; false at its end. */
bool heic_items_next_id(const struct heic_items *items, struct bytes *ids, uint32_t *id);

/* The first bytes of an item's data, up to the end of its first extent; empty when they are outside the file.
 */
struct bytes heic_items_data(const struct heic_items *items, uint32_t id);

#endif
