/* SPDX-License-Identifier: MIT
 * Light levels of the screen that a picture was made on (`mdcv`) and of the picture (`clli`). Internal to
 * codecs/. */
#ifndef BLURD_CODECS_BMFF_BMFF_LIGHT_H
#define BLURD_CODECS_BMFF_BMFF_LIGHT_H

#include "codecs/bmff/bmff_items.h"
#include "codecs/definition.h"

enum { BMFF_MASTERING_SIZE = 24, BMFF_LEVELS_SIZE = 8 };
enum { BMFF_LIGHT_SIZE = BMFF_MASTERING_SIZE + BMFF_LEVELS_SIZE };

/* As the bodies of the chunks mDCV and cLLI of PNG. */
struct bmff_light {
    bool has_mastering, has_levels;
    uint8_t mastering[BMFF_MASTERING_SIZE], levels[BMFF_LEVELS_SIZE];
};

/* Those of the primary item. A box of another size than its own is none. */
void bmff_light_read(const struct bmff_items *items, struct bmff_light *light);

/* Appends the chunks to *metadata, whose store has room for BMFF_LIGHT_SIZE bytes more. */
void bmff_light_append(const struct bmff_light *light, struct metadata *metadata);

#endif
