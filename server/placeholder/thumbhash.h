/* SPDX-License-Identifier: MIT
 * ThumbHash: a few terms of a cosine transform of brightness, colour and alpha. The bytes are those of the
 * JavaScript encoder of github.com/evanw/thumbhash, in whose order the sums are made. */
#ifndef BLURD_SERVER_PLACEHOLDER_THUMBHASH_H
#define BLURD_SERVER_PLACEHOLDER_THUMBHASH_H

#include <stddef.h>

#include "server/placeholder/thumbnail.h"

enum { THUMBHASH_MAX = 25 }; /* with alpha; 24 without */

/* Writes the hash and returns its size. */
size_t thumbhash_write(const struct thumbnail *thumbnail, uint8_t hash[THUMBHASH_MAX]);

#endif
