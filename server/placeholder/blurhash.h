/* SPDX-License-Identifier: MIT
 * BlurHash: a few terms of a cosine transform in linear light, as text of base 83. The text is that of the C
 * encoder of github.com/woltapp/blurhash, in whose single precision and order the sums are made. */
#ifndef BLURD_SERVER_PLACEHOLDER_BLURHASH_H
#define BLURD_SERVER_PLACEHOLDER_BLURHASH_H

#include "server/placeholder/thumbnail.h"

enum {
    BLURHASH_COMPONENTS_MAX = 9,
    BLURHASH_TEXT_MAX = 2 + 4 + 2 * (BLURHASH_COMPONENTS_MAX * BLURHASH_COMPONENTS_MAX - 1) + 1
};

/* Writes the hash of so many components across and down, 1 to BLURHASH_COMPONENTS_MAX, zero-terminated. It
 * has no quotation mark and no backslash. Alpha is not read. */
void blurhash_write(const struct thumbnail *thumbnail, unsigned across, unsigned down,
                    char text[BLURHASH_TEXT_MAX]);

#endif
