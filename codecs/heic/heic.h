/* SPDX-License-Identifier: MIT
 * The HEIC codec: HEIF files with HEVC pictures, read by libheif. It applies crop, rotation and mirroring, so
 * that pictures are upright. libheif catches no C++ exception: it ends the process when it gets no memory.
 * Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_H
#define BLURD_CODECS_HEIC_HEIC_H

#include "codecs/definition.h"

extern const struct codec codec_heic;

/* Opens the library. ST_UNSUPPORTED without it. */
enum status heic_open(struct error *err);

enum status heic_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err);
enum status heic_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err);
size_t heic_decode_bytes(const struct picture *picture, size_t input);

#endif
