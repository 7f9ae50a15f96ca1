/* SPDX-License-Identifier: MIT
 * The fast way to decode the usual PNG: all of its data is inflated in one call, which is what
 * libdeflate can, and the filters are undone from there into the image. Internal to codecs/.
 *
 * It takes nothing on itself that libpng could see differently: whatever is unusual or wrong with a
 * file, it leaves the file alone and libpng decodes or refuses it. One thing is not noticed: the few codes
 * that deflate reserves. zlib refuses them; libdeflate reads them like their neighbours, but then the size of
 * the rows and their checksum are right all the same. */
#ifndef BLURD_CODECS_PNG_PNG_WHOLE_H
#define BLURD_CODECS_PNG_PNG_WHOLE_H

#include "codecs/definition.h"

/* Sets *done when the matter is settled: the image is filled (ST_OK), or the deadline has passed
 * (ST_LIMIT). Otherwise ST_OK, and the pixels are undefined. Memory: the size of the filtered rows,
 * and that of the data where it is in several chunks, if limits->max_memory has room for it. */
enum status png_decode_whole(struct bytes input, const struct codec_limits *limits, const struct image *image,
                             bool *done, struct error *err);

/* Bytes that it takes at most for a picture of that shape and a file of `input` bytes; 0: it leaves such a
 * picture alone. */
size_t png_whole_bytes(const struct image_shape *shape, size_t input);

#endif
