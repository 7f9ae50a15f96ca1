/* SPDX-License-Identifier: MIT
 * Changes a part of a JPEG and keeps the rest bit for bit.
 *
 * A JPEG stores 8x8 blocks of quantised coefficients. Decoding and encoding again alters every block. A patch
 * makes only the blocks under a mask anew; all others keep their coefficients.
 *
 *     codec_probe, codec_decode, filter     as ever, with the picture as stored (not turned)
 *     jpeg_patch                            instead of codec_encode, if picture.patchable
 *
 * A JPEG is patchable when it
 *
 *  - is Huffman-coded, sequential or progressive, grey or YCbCr. Not arithmetic-coded
 *    (which few can read, and costs many times the time), CMYK, or RGB;
 *  - is sampled so that probe's native shape is grey or planar: luma at full size, both
 *    chroma planes alike and reduced by 1, 2 or 4 per axis, not by 4 in both. Anything
 *    else (factors of 3, chroma larger than luma) has no planes of ours. Nor may an MCU
 *    have more than the 10 blocks that one scan of all components allows;
 *  - has all its quantisation tables before its first scan, without a step of 0;
 *  - needs no more than limits->max_memory for its coefficients, 2 bytes each.
 *
 * Thread-safe; keeps no state between calls. */
#ifndef BLURD_CODECS_JPEG_JPEG_PATCH_H
#define BLURD_CODECS_JPEG_JPEG_PATCH_H

#include "codecs/definition.h"

/* The most bytes that jpeg_patch takes besides the images and the output. */
size_t jpeg_patch_bytes(const struct picture *picture, const struct encode_options *options);

/* Appends to *output a JPEG with the size, sampling factors, quantisation tables and pixel density of
 * `input`. A block is touched when it covers a picture pixel where `mask` is not 0; a block of reduced chroma
 * covers more pixels. Touched blocks get the coefficients that encoding `result` with these tables gives; all
 * others keep theirs.
 *
 * result    the new picture in the size of the input: PIXEL_GRAY for a grey JPEG, else
 *           PIXEL_YCBCR with its reductions or PIXEL_RGB, 8 bits. Only what lies in
 *           touched blocks is used. The padding of planes may be overwritten
 * mask      PIXEL_GRAY, 8 bits, in the size of the input
 * options   progressive, keep_metadata, upright, deadline_ns. The quality is the input's
 * metadata  as codec_encode's; may be NULL
 *
 * Huffman tables are computed for the new picture; restart markers are not written. Besides the coefficients
 * of the input, memory is taken for one row of MCUs.
 *
 * ST_CORRUPT: damaged or truncated, as in codec_decode. ST_UNSUPPORTED: the file is not
 * patchable, which the header may not tell (quantisation tables that change between scans, coefficients
 * impossible for 8-bit samples); encoding the whole picture works then. ST_LIMIT: too many scans, too much
 * memory, the deadline. ST_INTERNAL: result or mask of another shape. On failure *output may hold a part. */
enum status jpeg_patch(struct bytes input, const struct codec_limits *limits, const struct image *result,
                       const struct image *mask, const struct encode_options *options,
                       const struct metadata *metadata, struct buf *output, struct error *err);

#endif
