/* SPDX-License-Identifier: MIT
 * What each effort is to libjxl. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_EFFORT_H
#define BLURD_CODECS_JXL_JXL_EFFORT_H

#include "codecs/definition.h"

/* How a picture is coded. Repacked: as a JPEG, whose coefficients are then coded as JPEG XL. */
enum jxl_kind { JXL_KIND_REPACKED, JXL_KIND_LOSSY, JXL_KIND_LOSSLESS, JXL_KINDS };

struct jxl_effort {
    enum jxl_kind kind;
    uint8_t level; /* libjxl's effort */
};

/* The strongest effort up to the requested one whose worst time fits into half of what is left before the
 * deadline. A picture with alpha or 16 bits cannot be a JPEG. */
struct jxl_effort jxl_effort_choose(const struct image_shape *shape, const struct encode_options *options);

#endif
