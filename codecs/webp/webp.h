/* SPDX-License-Identifier: MIT
 * The WebP codec. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_H
#define BLURD_CODECS_WEBP_WEBP_H

#include "codecs/definition.h"

extern const struct codec codec_webp;

#endif
