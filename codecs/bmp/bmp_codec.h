/* SPDX-License-Identifier: MIT
 * The BMP codec, which reads without a library. Internal to codecs/. */
#ifndef BLURD_CODECS_BMP_BMP_CODEC_H
#define BLURD_CODECS_BMP_BMP_CODEC_H

#include "codecs/definition.h"

extern const struct codec codec_bmp;

enum status bmp_codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                            struct error *err);
enum status bmp_codec_decode(struct bytes input, const struct picture *picture,
                             const struct codec_limits *limits, const struct image *image, struct error *err);

#endif
