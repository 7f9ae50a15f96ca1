/* SPDX-License-Identifier: MIT
 * A block of deflate (RFC 1951) with codes of its own, from literals and matches that were found before.
 * Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_DEFLATE_TOKENS_H
#define BLURD_CODECS_PNG_DEFLATE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "codecs/png/deflate/deflate_bits.h"
#include "codecs/png/deflate/deflate_symbols.h"

enum {
    DEFLATE_HEADER_MAX = 512, /* upper bound of a block's header and end, in bytes */
};

/* So many literals, and a match behind them. */
struct deflate_token {
    uint32_t literals;
    uint16_t length;   /* DEFLATE_MATCH_MIN to DEFLATE_MATCH_MAX */
    uint16_t distance; /* 1 to DEFLATE_DISTANCE_MAX */
};

/* Writes the block of `count` tokens over `data`, and of `tail` literals behind them: at most twice as many
 * bytes as the data has, and DEFLATE_HEADER_MAX. */
void deflate_put_tokens(struct deflate_writer *writer, const uint8_t *data,
                        const struct deflate_token *tokens, size_t count, size_t tail);

#endif
