/* SPDX-License-Identifier: MIT
 * The comments of a JPEG and the texts of a PNG, on their way into either. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_TEXTS_H
#define BLURD_CODECS_METADATA_TEXTS_H

#include "codecs/definition.h"

#define TEXT_COMMENT "Comment" /* the keyword in a PNG of what is a comment in a JPEG */

/* All views last until the visit ends. */
struct text {
    struct bytes keyword;    /* 1 to 79 characters of Latin-1; TEXT_COMMENT for a JPEG's comment */
    struct bytes language;   /* empty: not given */
    struct bytes translated; /* the keyword in that language, UTF-8; empty: not given */
    struct bytes value;      /* UTF-8; what the file has in Latin-1 was converted */
    bool ascii;              /* the value is ASCII */
};

/* Calls `visit` with each plain text (codecs/metadata/plain_text.h), in the order of the file; only plain
 * texts are kept. For each other text LOSS_TEXT is set in *losses. Ends with the first failure of `visit`;
 * ST_BUSY without memory. */
enum status texts_each(const struct metadata *metadata, unsigned *losses,
                       enum status (*visit)(void *context, const struct text *text, struct error *err),
                       void *context, struct error *err);

/* Puts what a zlib stream holds into *output, an all-zero struct that the caller ends with buf_finish. It
 * stays empty when the stream is damaged or holds more than `most` bytes. ST_BUSY without memory. */
enum status texts_inflate(struct bytes stream, size_t most, struct buf *output, struct error *err);

#endif
