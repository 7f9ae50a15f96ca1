/* SPDX-License-Identifier: MIT
 * The AVIF codec, by libavif. The functions of the build without libavif are missing. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_H
#define BLURD_CODECS_AVIF_AVIF_H

#include "codecs/definition.h"

extern const struct codec codec_avif;
extern const struct codec_frames avif_frames;
extern const struct codec_sequence_writer avif_sequence_writer;

/* Opens the library. ST_UNSUPPORTED without it. */
enum status avif_open(struct error *err);

bool avif_peek(struct bytes input, struct peek *peek);
enum status avif_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err);
enum status avif_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err);

/* 8 bits stay 8 bits; 16 bits become 10. One call of the library does it all: the deadline is checked before
 * and after it, and a lower effort is taken where the time would not do. */
enum status avif_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err);

struct encode_cost avif_encode_cost(const struct encode_extent *extent, const struct encode_options *options);

/* The strongest effort in a sequence; a higher one counts as this. With that behind it libaom 3.6 crashes on
 * grey and alpha, and those behind that look ahead (docs/adr/0090). */
enum { AVIF_SEQUENCE_EFFORT = 1 };

/* As codec_decode_bytes and codec_encode_bytes. */
size_t avif_decode_bytes(const struct picture *picture, size_t input);
size_t avif_encode_bytes(const struct image_shape *shape, const struct encode_options *options);

#endif
