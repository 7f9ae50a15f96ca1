/* SPDX-License-Identifier: MIT
 * Parts of a level that are as dense with edges as codes are. */
#ifndef BLURD_DETECT_CODES_CPU_CODES_PARTS_H
#define BLURD_DETECT_CODES_CPU_CODES_PARTS_H

#include "detect/codes/cpu/codes_level.h"

enum codes_texture { CODES_MODULES, CODES_STRIPES, CODES_EITHER, CODES_TEXTURES };

/* Calls `found` with the cells of each connected part; `cells` is valid during the call. */
void codes_parts_find(const struct codes_level *level, enum codes_texture texture,
                      void (*found)(void *context, const uint32_t *cells, uint32_t count), void *context);

#endif
