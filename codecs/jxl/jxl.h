/* SPDX-License-Identifier: MIT
 * The JPEG XL codec, by libjxl, of version 0.7 or later. The library counts no memory and has no deadline, so
 * the codec is isolated. The functions of the build without libjxl are missing.
 *
 * Samples are read at 16 bits and rounded here, since libjxl dithers when it writes 8. Alpha becomes
 * straight. The layers of an animation's frames are put together. Extra channels other than alpha are left
 * out, spot colours are mixed in. Internal to codecs/. */
#ifndef BLURD_CODECS_JXL_JXL_H
#define BLURD_CODECS_JXL_JXL_H

#include "codecs/definition.h"

extern const struct codec codec_jxl;
extern const struct codec_frames jxl_frames;

/* Opens the library. ST_UNSUPPORTED without it. */
enum status jxl_open(struct error *err);

/* As the functions of struct codec. */
bool jxl_peek(struct bytes input, struct peek *peek);
enum status jxl_probe(struct bytes input, const struct codec_limits *limits, struct picture *picture,
                      struct error *err);
enum status jxl_decode(struct bytes input, const struct picture *picture, const struct codec_limits *limits,
                       const struct image *image, struct error *err);
enum status jxl_encode(const struct image *image, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err);
enum status jxl_repack(struct bytes input, const struct codec_limits *limits, struct buf *output,
                       struct error *err);
struct encode_cost jxl_encode_cost(const struct encode_extent *extent, const struct encode_options *options);
size_t jxl_encode_bytes(const struct image_shape *shape, const struct encode_options *options);
size_t jxl_decode_bytes(const struct picture *picture, size_t input);

#endif
