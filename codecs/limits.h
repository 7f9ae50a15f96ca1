/* SPDX-License-Identifier: MIT
 * Checks that all codecs share. Internal to codecs/. */
#ifndef BLURD_CODECS_LIMITS_H
#define BLURD_CODECS_LIMITS_H

#include "codecs/definition.h"

/* ST_CORRUPT for a side of 0, ST_LIMIT over the side or pixel limit, both named. */
enum status limits_check_size(uint32_t width, uint32_t height, const struct codec_limits *limits,
                              struct error *err);

#endif
