/* SPDX-License-Identifier: MIT
 * The HEIC codec. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_H
#define BLURD_CODECS_HEIC_HEIC_H

#include "codecs/definition.h"

extern const struct codec codec_heic;

#endif
