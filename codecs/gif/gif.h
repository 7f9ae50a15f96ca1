/* SPDX-License-Identifier: MIT
 * GIF, read and written without a library: its coding is small, and costs no more memory or time than its
 * header says (docs/adr/0081).
 *
 * A picture is that of the first frame on the logical screen: RGBA where it has transparent pixels or does
 * not cover the screen, else RGB. What lies off the screen is cut. Written are at most 256 colours: those of
 * the picture if they are as few, else means of a median cut. A pixel with less than half of full alpha
 * becomes transparent, others opaque. Internal to codecs/. */
#ifndef BLURD_CODECS_GIF_GIF_H
#define BLURD_CODECS_GIF_GIF_H

#include "codecs/definition.h"

extern const struct codec codec_gif;
extern const struct codec_frames gif_frames;

/* As the functions of struct codec. */
bool gif_peek(struct bytes input, struct peek *peek);
enum status gif_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err);
enum status gif_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err);
enum status gif_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err);
size_t gif_decode_bytes(const struct picture *picture, size_t input);
size_t gif_encode_bytes(const struct image_shape *shape, const struct encode_options *options);

#endif
