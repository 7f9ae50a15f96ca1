/* SPDX-License-Identifier: MIT
 * A deflate compressor for rows of flat areas with sharp edges, as in screenshots and drawings: it searches
 * for matches at the boundaries of pixels alone, in two tables of hashes, at the pixel before and in the row
 * above. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_LZ_H
#define BLURD_CODECS_PNG_DEFLATE_LZ_H

#include "core/bytes.h"

enum { DEFLATE_LZ_PADDING = 8 }; /* bytes behind the data that are read, and have no effect */

struct deflate_lz; /* working memory; one thread at a time */

size_t deflate_lz_bytes(void);

/* Filtered rows: `line` bytes each, a filter byte and pixels of `pixel` bytes (1, 2, 3, 4, 6 or 8). */
struct deflate_lines {
    const uint8_t *data; /* and DEFLATE_LZ_PADDING bytes more */
    size_t history;      /* bytes of rows that were written before, to which matches may refer */
    size_t size;         /* with the history; below 2^31 */
    size_t line;
    unsigned pixel;
};

/* The most bytes that `size` bytes of rows take when they are written. */
size_t deflate_lz_most(size_t size);

/* Appends the rows as blocks, and an empty one that fills the last byte, so that blocks made separately can
 * be concatenated. Failures as buf_reserve. */
enum status deflate_lz_block(struct deflate_lz *memory, const struct deflate_lines *lines, struct buf *output,
                             struct error *err);

#endif
