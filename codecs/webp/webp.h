/* SPDX-License-Identifier: MIT
 * The WebP codec. libwebp counts no memory and has no deadline of its own while it decodes, so the codec is
 * isolated.
 *
 * A lossy file without alpha has planes: 4:2:0 in the limited range of BT.601, as they are stored. Others
 * have only pixels, RGB or RGBA. The first frame of an animation lies on a transparent canvas; only a frame
 * that covers the canvas can have planes or be opaque.
 *
 * Effort 0 to 9 is libwebp's method 0, 2, 2, 3, 3, 4, 4, 5, 5, 6 for lossy files and its preset of the same
 * number for lossless ones, less where the deadline is too near (webp_effort.h). Lossless files keep the
 * colour of transparent pixels; lossy ones do not. Internal to codecs/. */
#ifndef BLURD_CODECS_WEBP_WEBP_H
#define BLURD_CODECS_WEBP_WEBP_H

#include "codecs/definition.h"

extern const struct codec codec_webp;
extern const struct codec_frames webp_frames;

/* As the functions of struct codec. */
enum status webp_open(struct error *err);
bool webp_peek(struct bytes input, struct peek *peek);
enum status webp_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                       struct error *err);
enum status webp_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                        const struct image *image, struct error *err);
enum status webp_encode(const struct image *image, const struct encode_options *options,
                        const struct metadata *metadata, struct buf *output, struct error *err);
struct encode_cost webp_encode_cost(const struct encode_extent *extent, const struct encode_options *options);
size_t webp_decode_bytes(const struct picture *picture, size_t input);
size_t webp_encode_bytes(const struct image_shape *shape, const struct encode_options *options);

#endif
