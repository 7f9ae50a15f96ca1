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

/* Sets *done when the image is filled (ST_OK), or on a failure that is final: ST_LIMIT when the deadline has
 * passed, ST_INTERNAL when another process wrote to the image. Otherwise returns ST_OK with undefined pixels,
 * always when image->room is less than png_whole_room. The rows are inflated to the end of the image's memory
 * and the filters undone towards its beginning. Takes memory only for the data when it is in several chunks,
 * and limits->spare has less, if limits->max_memory allows it. */
enum status png_decode_whole(struct bytes input, const struct codec_limits *limits, const struct image *image,
                             bool *done, struct error *err);

/* Bytes behind an image of that shape that png_decode_whole needs; 0: it is too large. */
size_t png_whole_room(const struct image_shape *shape);

#endif
