/* SPDX-License-Identifier: MIT
 * An encoder of baseline JPEGs, with the standard's Huffman tables or with those of the picture.
 * The bytes are those of libjpeg-turbo's islow transform, with its `optimize_coding` for the latter. It
 * follows a picture that is being made, row of MCUs by row. Not thread-safe. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASELINE_H
#define BLURD_CODECS_JPEG_BASELINE_BASELINE_H

#include "codecs/jpeg/baseline/jpeg_enc_blocks.h"
#include "codecs/jpeg/jpeg_segments.h"

struct jpeg_enc_level;
struct baseline;

/* Whether this encoder makes the file on this processor. libjpeg-turbo makes the others, or refuses them. */
bool baseline_takes(const struct image_shape *shape, const struct encode_options *options);

/* Bytes of heap memory that encoding takes, without the file and its metadata. */
size_t baseline_bytes(const struct image_shape *shape, const struct encode_options *options);

/* Begins a file in *output: its header, the metadata of `segments` and the quantisers. The picture is laid
 * out by image_layout; the encoder fills the padding of grey and YCbCr planes up to whole blocks. All
 * arguments must outlive the encoding, but for `segments`. `level` is one of jpeg_enc_levels(); NULL: the
 * best. Failures as of buf_append; *made is NULL then. */
enum status baseline_begin(const struct jpeg_enc_level *level, const struct image *image,
                           const struct encode_options *options, const struct jpeg_segments *segments,
                           struct buf *output, struct baseline **made, struct error *err);

/* Begins a file of given blocks, of which baseline_end then encodes all; the tables are the picture's.
 * `image` has the model and the reductions of the components, and needs no samples. */
enum status baseline_begin_blocks(const struct jpeg_enc_level *level, const struct image *image,
                                  const struct baseline_blocks *blocks, const struct encode_options *options,
                                  const struct jpeg_segments *segments, struct buf *output,
                                  struct baseline **made, struct error *err);

/* Encodes what it can of the first `rows` rows. ST_LIMIT: over the deadline or the maximum of the output;
 * ST_BUSY: no memory. Only baseline_finish may follow a failure. */
enum status baseline_rows(struct baseline *baseline, uint32_t rows, struct error *err);

/* Encodes all rows that are left, and ends the file. Fails as baseline_rows; ST_UNSUPPORTED: a given block
 * has a coefficient for which baseline files have no symbol. */
enum status baseline_end(struct baseline *baseline, struct error *err);

/* Frees it. Accepts NULL. */
void baseline_finish(struct baseline *baseline);

#endif
