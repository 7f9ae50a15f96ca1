/* SPDX-License-Identifier: MIT
 * Decodes JPEGs by own code: sequential ones while reading them (sequential/), progressive ones
 * from their coefficients once all scans are read. What either does not know, or finds damaged, is declined
 * and left to libjpeg-turbo, whose samples these are. Thread-safe; keeps no state. Internal to codecs/jpeg/.
 */
#ifndef BLURD_CODECS_JPEG_JPEG_PLANES_H
#define BLURD_CODECS_JPEG_JPEG_PLANES_H

#include "codecs/jpeg/sequential/sequential.h"

/* Decodes to planes, as sequential_decode. Without a supported level of vector instructions all files are
 * declined. */
enum status jpeg_planes_decode(struct bytes input, const struct codec_limits *limits,
                               const struct image *image, bool *declined, uint32_t *rows_reported,
                               struct error *err);
enum status jpeg_planes_decode_at(const struct jpeg_dec_level *level, struct bytes input,
                                  const struct codec_limits *limits, const struct image *image,
                                  bool *declined, uint32_t *rows_reported, struct error *err);

/* The same to interleaved RGB of 8 bits, of a JPEG that has planes of the shape `planes`, whose width and
 * height are the image's. No thread helps.
 * Files of several scans are declined, unless they are progressive, and so are all with
 * limits->local_colour.
 */
enum status jpeg_pixels_decode(struct bytes input, const struct codec_limits *limits,
                               const struct image_shape *planes, const struct image *image, bool *declined,
                               uint32_t *rows_reported, struct error *err);
enum status jpeg_pixels_decode_at(const struct jpeg_dec_level *level, struct bytes input,
                                  const struct codec_limits *limits, const struct image_shape *planes,
                                  const struct image *image, bool *declined, uint32_t *rows_reported,
                                  struct error *err);

/* Bytes of heap memory that a progressive file takes; 0 if libjpeg-turbo decodes all of this shape. */
size_t jpeg_planes_progressive_bytes(const struct image_shape *shape);

#endif
