/* SPDX-License-Identifier: MIT
 * Comments of a JPEG and texts of a PNG, which can be converted into each other. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_TEXTS_H
#define BLURD_CODECS_METADATA_TEXTS_H

#include "codecs/definition.h"

#define TEXT_COMMENT "Comment" /* PNG keyword of a JPEG comment */

/* Views are valid during the visit. */
struct text {
    struct bytes keyword;    /* 1 to 79 characters of Latin-1; TEXT_COMMENT for a JPEG's comment */
    struct bytes language;   /* empty: not given */
    struct bytes translated; /* the keyword in that language, UTF-8; empty: not given */
    struct bytes value;      /* UTF-8; Latin-1 is converted */
    bool ascii;              /* the value is ASCII */
};

/* Calls `visit` for each plain text (codecs/metadata/plain_text.h), in file order. Each other text sets
 * LOSS_TEXT in *losses. Stops at the first failure of `visit`; ST_BUSY without memory. */
enum status texts_each(const struct metadata *metadata, unsigned *losses,
                       enum status (*visit)(void *context, const struct text *text, struct error *err),
                       void *context, struct error *err);

/* The parts of a chunk of text, borrowed from its data. */
struct text_parts {
    struct bytes keyword, language, translated, text;
    bool deflated;      /* the text is a zlib stream */
    bool international; /* iTXt: UTF-8; else Latin-1, or a program's own encoding */
};

/* Splits the data of a chunk of that kind, CHUNK_COMMENT or a text; false when it is not well-formed. */
bool texts_split(enum chunk_kind kind, struct bytes data, struct text_parts *text);

/* Inflates a zlib stream into *output, an all-zero struct that the caller ends with buf_finish. It stays
 * empty when the stream is damaged or holds more than `most` bytes. ST_BUSY without memory. */
enum status texts_inflate(struct bytes stream, size_t most, struct buf *output, struct error *err);

#endif
