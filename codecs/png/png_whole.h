/* SPDX-License-Identifier: MIT
 * The fast path for common PNGs: libdeflate inflates all data in one call, and the filters are undone into
 * the image. Internal to codecs/.
 *
 * Unusual or damaged files are left to libpng, which decodes or refuses them. One difference remains: zlib
 * refuses the few codes that deflate reserves, and libdeflate reads them like their neighbours. The size
 * of the rows and their checksum are still verified. */
#ifndef BLURD_CODECS_PNG_PNG_WHOLE_H
#define BLURD_CODECS_PNG_PNG_WHOLE_H

#include "codecs/definition.h"

/* Sets *done when the image is filled (ST_OK) or the deadline has passed (ST_LIMIT). Otherwise returns
 * ST_OK with undefined pixels. Takes memory for the filtered rows, and for the data when it is in several
 * chunks, if limits->max_memory allows it. */
enum status png_decode_whole(struct bytes input, const struct codec_limits *limits, const struct image *image,
                             bool *done, struct error *err);

/* The most bytes that png_decode_whole takes for a picture of that shape and a file of `input` bytes; 0:
 * it does not decode such pictures. */
size_t png_whole_bytes(const struct image_shape *shape, size_t input);

#endif
