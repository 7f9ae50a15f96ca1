/* SPDX-License-Identifier: MIT
 * The AVIF codec. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_H
#define BLURD_CODECS_AVIF_AVIF_H

#include "codecs/definition.h"

extern const struct codec codec_avif;

#endif
