/* SPDX-License-Identifier: MIT
 * The picture that a network reads, pixel by pixel. */
#ifndef BLURD_TESTS_FILTERS_REFERENCE_PADDED_H
#define BLURD_TESTS_FILTERS_REFERENCE_PADDED_H

#include "core/image.h"

/* RGB of `width` x `height` pixels, of which `border` lie left of the image and above it: its mirror image,
 * or black without a border. The caller frees it. */
uint8_t *reference_padded(const struct image *image, uint32_t border, uint32_t width, uint32_t height);

#endif
