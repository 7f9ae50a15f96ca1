/* SPDX-License-Identifier: MIT
 * Boxes that are compressed by Brotli. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_BROB_H
#define BLURD_CODECS_JXL_JXL_BROB_H

#include "codecs/jxl/jxl_library.h"
#include "core/bytes.h"

/* Inflates the body of a box `brob` to at most `room` bytes and returns their number; 0 when they are more,
 * or the body is damaged. */
size_t jxl_brob_inflate(const struct jxl_library *jxl, struct bytes body, uint8_t *to, size_t room);

#endif
