/* SPDX-License-Identifier: MIT
 * Metadata for a JPEG that another encoder than libjpeg has made, such as a GPU's: it then has the head that
 * codec_encode would have written. */
#ifndef BLURD_CODECS_JPEG_JPEG_SPLICE_H
#define BLURD_CODECS_JPEG_JPEG_SPLICE_H

#include "codecs/definition.h"

/* Appends `encoded`, a baseline JPEG with the frame that `shape` asks for, to *output: the JFIF header
 * of codec_encode, what the options (keep_metadata, upright) let through of `metadata`,
 * which may be NULL, and then the encoder's tables, frame, and scans as they are. Application segments and
 * comments of the encoder are left out.
 *
 * shape   PIXEL_GRAY or PIXEL_YCBCR, 8 bits. Luma is at full size in the frame and the chroma components have
 *         factors of 1; the factors of a grey picture mean nothing and can be any
 *
 * `encoded` may come from another process, and lie in memory that it can still write to: nothing in it is
 * trusted, and it is checked up to its first scan, whose bytes are not looked into; whether the picture can
 * be decoded is the encoder's business. It may not lie in *output. ST_DEVICE, with a sentence that says what
 * is wrong, when it is not such a JPEG: encoding anew helps. ST_BUSY without memory; ST_LIMIT over the
 * maximum of *output. On failure *output holds what it did before. Takes memory for all of it at once.
 * Thread-safe. */
enum status jpeg_splice(struct bytes encoded, const struct image_shape *shape,
                        const struct encode_options *options, const struct metadata *metadata,
                        struct buf *output, struct error *err);

#endif
