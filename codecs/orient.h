/* SPDX-License-Identifier: MIT
 * Turning a picture upright, as EXIF orientation 1 to 8 asks (EXIF 2.32, tag 0x0112). */
#ifndef BLURD_CODECS_ORIENT_H
#define BLURD_CODECS_ORIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"

/* The shape after turning: sides and chroma reductions swap for orientations 5 to 8. */
struct image_shape orient_shape(const struct image_shape *shape, uint8_t orientation);

/* Whether the planes can be turned sample by sample. False for a mirrored axis of odd
 * length whose chroma is reduced: the chroma grid would shift; such a picture must be
 * decoded to RGB first. */
bool orient_is_exact(const struct image_shape *shape, uint8_t orientation);

/* Copies `source` turned upright to `target`, laid out with orient_shape. The images
 * do not overlap. */
void orient_image(const struct image *source, uint8_t orientation, const struct image *target);

#endif
