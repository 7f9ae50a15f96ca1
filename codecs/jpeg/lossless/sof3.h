/* SPDX-License-Identifier: MIT
 * A decoder of lossless JPEGs (SOF3: predictors and Huffman codes, without blocks and quantisation), which
 * libjpeg-turbo before 3.0 does not read. It takes one scan of 8 bits, grey or RGB, at full sampling. The
 * samples are those of libjpeg-turbo 3. It takes no heap memory. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_LOSSLESS_SOF3_H
#define BLURD_CODECS_JPEG_LOSSLESS_SOF3_H

#include "codecs/jpeg/jpeg_markers.h"

/* Fills in the picture's shapes, but no metadata. ST_UNSUPPORTED: a kind that is not taken; ST_CORRUPT: a
 * damaged header, or a file that is too short for its pixels. */
enum status sof3_probe(struct bytes input, struct picture *picture, struct error *err);

/* Decodes to an image of the probed shape, and reports rows to limits->progress. ST_CORRUPT: a code that does
 * not exist, too few data, a sample out of range, a wrong restart marker. ST_LIMIT: the deadline has passed.
 */
enum status sof3_decode(struct bytes input, const struct codec_limits *limits, const struct image *image,
                        struct error *err);

#endif
