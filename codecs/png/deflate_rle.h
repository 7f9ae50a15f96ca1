/* SPDX-License-Identifier: MIT
 * A deflate for filtered rows of pictures: Huffman codes, and runs of zeros as the only matches.
 * Small differences are most of such data, and a search for other matches costs far more time than it
 * saves bytes. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_RLE_H
#define BLURD_CODECS_PNG_DEFLATE_RLE_H

#include "core/bytes.h"

/* Appends `size` bytes (1 to 2^21) as one block with codes of its own, and an empty one that fills up the
 * last byte: blocks that were made apart are a stream when they are put behind each other. The bytes may
 * become up to 1.75 times as many, where those that were looked at to make the codes are unlike the others.
 * Failures as buf_reserve. */
enum status deflate_rle_block(const uint8_t *data, size_t size, struct buf *output, struct error *err);

/* Appends an empty last block. Failures as buf_reserve. */
enum status deflate_rle_end(struct buf *output, struct error *err);

#endif
