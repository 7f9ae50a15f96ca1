/* SPDX-License-Identifier: MIT
 * A deflate compressor for filtered rows: Huffman codes, and runs of zeros as the only matches. Such data
 * consists mostly of small differences, where a search for other matches costs far more time than it saves
 * bytes. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_RLE_H
#define BLURD_CODECS_PNG_DEFLATE_RLE_H

#include "core/bytes.h"

/* Appends `size` bytes (1 to 2^21) as one block with its own codes, and an empty block that fills the last
 * byte: blocks made separately can be concatenated. The output may be up to 1.75 times as large, when the
 * data differs from the sample that the codes are made from. Failures as buf_reserve. */
enum status deflate_rle_block(const uint8_t *data, size_t size, struct buf *output, struct error *err);

/* Appends an empty last block. Failures as buf_reserve. */
enum status deflate_rle_end(struct buf *output, struct error *err);

#endif
