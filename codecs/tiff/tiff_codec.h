/* SPDX-License-Identifier: MIT
 * The TIFF codec. The directories are read here, libtiff decompresses strips and tiles, and their samples are
 * converted here. libtiff sees a directory that is written for it, with what has been checked. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_TIFF_TIFF_CODEC_H
#define BLURD_CODECS_TIFF_TIFF_CODEC_H

#include "codecs/definition.h"

extern const struct codec codec_tiff;

/* Opens the library. ST_UNSUPPORTED without it. */
enum status tiff_codec_open(struct error *err);

bool tiff_codec_peek(struct bytes input, struct peek *peek);
enum status tiff_codec_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                             struct error *err);
enum status tiff_codec_decode(struct bytes input, const struct picture *picture,
                              const struct codec_limits *limits, const struct image *image,
                              struct error *err);
size_t tiff_codec_decode_bytes(const struct picture *picture, size_t input);

#endif
