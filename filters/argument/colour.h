/* SPDX-License-Identifier: MIT
 * Colours that a request gives, in sRGB. Thread-safe. */
#ifndef BLURD_FILTERS_ARGUMENT_COLOUR_H
#define BLURD_FILTERS_ARGUMENT_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"

/* Reads rrggbb or rrggbbaa, with or without a # in front, as red, green, blue and alpha; without its digits
 * alpha is 255. False, with rgba untouched, for other text. */
bool colour_parse(const char *text, uint8_t rgba[4]);

/* The samples of a colour in a picture of this shape: one for each channel of a pixel, or for each plane.
 * Grey and YCbCr are those of JFIF (ITU-R BT.601 with full range), rounded to nearest. Where the picture has
 * no alpha, that of the colour has no effect. */
void colour_samples(const uint8_t rgba[4], const struct image_shape *shape, uint16_t sample[4]);

#endif
