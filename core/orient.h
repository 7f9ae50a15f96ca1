/* SPDX-License-Identifier: MIT
 * The arithmetic of EXIF orientations 1 to 8 (EXIF 2.32, tag 0x0112), without pixels. Any other value
 * counts as 1, which changes nothing. */
#ifndef BLURD_CORE_ORIENT_H
#define BLURD_CORE_ORIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"

/* An orientation as three switches: swap the axes of the target, then count the source's columns or rows
 * from the far end. */
struct orient_turn {
    bool transpose;
    bool mirror_x; /* the source's columns */
    bool mirror_y;
};

struct orient_turn orient_turn(uint8_t orientation);

bool orient_turns(uint8_t orientation);

/* One orientation for two turns: of the picture as stored by `first`, then of the result by `second`. */
uint8_t orient_compose(uint8_t first, uint8_t second);

/* The shape after turning: sides and chroma reductions swap for orientations 5 to 8. */
struct image_shape orient_shape(const struct image_shape *shape, uint8_t orientation);

/* Whether the planes can be turned sample by sample. False for a mirrored axis of odd length whose chroma
 * is reduced: the chroma grid would shift; such a picture must be decoded to RGB first. */
bool orient_is_exact(const struct image_shape *shape, uint8_t orientation);

#endif
