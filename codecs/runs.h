/* SPDX-License-Identifier: MIT
 * A deflate for filtered rows of pictures: Huffman codes, and runs of zeros as the only matches.
 * Small differences are most of such data, and a search for other matches costs far more time than it
 * saves bytes. Internal to codecs/. */
#ifndef BLURD_CODECS_RUNS_H
#define BLURD_CODECS_RUNS_H

#include "core/bytes.h"

/* The end of a stream that has not filled a byte yet. All zero before the first block. */
struct runs {
    uint32_t bits;
    unsigned count; /* below 8 */
};

/* Appends `size` bytes (1 to 2^21) as one block with codes of its own. They may become up to 1.75 times as
 * many, where the bytes that were looked at to make the codes are unlike the others. Failures as buf_reserve.
 */
enum status runs_block(struct runs *runs, const uint8_t *data, size_t size, struct buf *output,
                       struct error *err);

/* Appends an empty last block and what fills up the byte. Failures as buf_reserve. */
enum status runs_end(struct runs *runs, struct buf *output, struct error *err);

#endif
