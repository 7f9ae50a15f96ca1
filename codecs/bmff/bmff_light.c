/* SPDX-License-Identifier: MIT */
#include "codecs/bmff/bmff_light.h"

#include <string.h>

enum { MDCV = 0x6D444356, CLLI = 0x634C4C49, POINT_SIZE = 4, COLOURS = 3 };

/* Both have the same units; the box has green, blue and red, the chunk red, green and blue. */
static void convert_mastering(const uint8_t *box, uint8_t *chunk) {
    static const uint8_t place[COLOURS] = {1, 2, 0};
    for (size_t i = 0; i < COLOURS; i++) {
        memcpy(chunk + (size_t)place[i] * POINT_SIZE, box + i * POINT_SIZE, POINT_SIZE);
    }
    size_t points = COLOURS * POINT_SIZE;
    memcpy(chunk + points, box + points, BMFF_MASTERING_SIZE - points);
}

/* The box has two bytes for each number of candelas, the chunk four bytes, in steps of 1/10000. */
static void convert_levels(const uint8_t *box, uint8_t *chunk) {
    enum { STEPS = 10000 };
    for (size_t i = 0; i < 2; i++) {
        uint32_t value = (uint32_t)(box[2 * i] << 8 | box[2 * i + 1]) * STEPS;
        for (size_t byte = 0; byte < 4; byte++) {
            chunk[4 * i + byte] = (uint8_t)(value >> (24 - 8 * byte));
        }
    }
}

void bmff_light_read(const struct bmff_items *items, struct bmff_light *light) {
    const struct bmff_item *primary = bmff_items_find(items, items->primary);
    *light = (struct bmff_light){0};
    if (primary && primary->mastering.size == BMFF_MASTERING_SIZE) {
        light->has_mastering = true;
        convert_mastering(primary->mastering.data, light->mastering);
    }
    if (primary && primary->light.size == BMFF_LEVELS_SIZE / 2) {
        light->has_levels = true;
        convert_levels(primary->light.data, light->levels);
    }
}

static void append(struct metadata *metadata, uint32_t tag, const uint8_t *data, size_t size) {
    struct buf *store = &metadata->store;
    memcpy(store->data + store->size, data, size);
    metadata->chunk[metadata->chunk_count++] =
        (struct metadata_chunk){.kind = CHUNK_COLOUR, .tag = tag, .data = {store->data + store->size, size}};
    store->size += size;
}

void bmff_light_append(const struct bmff_light *light, struct metadata *metadata) {
    if (light->has_mastering) {
        append(metadata, MDCV, light->mastering, sizeof light->mastering);
    }
    if (light->has_levels) {
        append(metadata, CLLI, light->levels, sizeof light->levels);
    }
}
