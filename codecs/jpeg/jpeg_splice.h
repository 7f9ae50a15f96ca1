/* SPDX-License-Identifier: MIT
 * Writes the head of codec_encode for a JPEG from another encoder, such as a GPU's. An encoder that handed
 * back tables and scan data alone would be checked as much, and its answers could not be compared with whole
 * files. */
#ifndef BLURD_CODECS_JPEG_JPEG_SPLICE_H
#define BLURD_CODECS_JPEG_JPEG_SPLICE_H

#include "codecs/definition.h"

enum { JPEG_SPLICE_MINOR = 1 }; /* codec_encode writes JFIF 1.1 */

/* For `encoded`, a baseline JPEG whose frame matches `shape`: appends to *output the JFIF header of
 * codec_encode, the metadata that the options (keep_metadata, upright) allow (`metadata` may be NULL), and
 * the encoder's tables and frame unchanged. *scans gets the part of `encoded` that follows them, all of its
 * scans. The encoder's application segments and comments are dropped.
 *
 * minor   of the version 1.n in the JFIF header: JPEG_SPLICE_MINOR for the header of codec_encode. jpeg_patch
 *         writes its input's, metadata->jfif_minor
 * shape   PIXEL_GRAY or PIXEL_YCBCR, 8 bits. Luma is at full size in the frame and the chroma components have
 *         factors of 1; the factors of a grey picture mean nothing and can be any
 *
 * `encoded` may lie in memory that another process still writes to, but not in *output. It is not trusted:
 * a copy of what comes before its first scan, of at most 8 KiB, is checked and used. The scan data is not
 * checked, so the picture may not be decodable. ST_DEVICE, with a sentence, when it is not such a JPEG:
 * encoding again helps. ST_BUSY without memory; ST_LIMIT over the maximum of *output. On failure *output is
 * unchanged. Thread-safe. */
enum status jpeg_splice(struct bytes encoded, const struct image_shape *shape, uint8_t minor,
                        const struct encode_options *options, const struct metadata *metadata,
                        struct buf *output, struct bytes *scans, struct error *err);

#endif
