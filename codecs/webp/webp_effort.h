/* SPDX-License-Identifier: MIT
 * What each effort costs libwebp in time and memory. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_EFFORT_H
#define BLURD_CODECS_WEBP_WEBP_EFFORT_H

#include "codecs/definition.h"

enum webp_kind { WEBP_KIND_LOSSY, WEBP_KIND_TRANSLUCENT, WEBP_KIND_LOSSLESS, WEBP_KINDS };

struct webp_effort {
    uint8_t level;             /* the effort: the number of libwebp's preset for lossless files */
    uint8_t method;            /* libwebp's method for lossy files */
    uint8_t bytes[WEBP_KINDS]; /* memory a pixel, besides what is common to all pictures */
    uint16_t ns[WEBP_KINDS];   /* worst time a pixel */
};

/* The row of the requested effort, 9 for larger ones. */
const struct webp_effort *webp_effort_wanted(const struct encode_options *options);

/* The row of the strongest effort up to the requested one whose worst time fits before the deadline. */
const struct webp_effort *webp_effort_affordable(const struct image_shape *shape,
                                                 const struct encode_options *options);

/* Whether a lossy picture is coded twice, so that its symbols need not be kept: half as much time again and a
 * seventh of the memory. */
bool webp_effort_saves_memory(const struct webp_effort *effort, const struct image_shape *shape);

#endif
