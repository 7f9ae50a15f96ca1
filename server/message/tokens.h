/* SPDX-License-Identifier: MIT
 * Bearer tokens (RFC 6750), one a line in a file; blank lines and lines that begin
 * with # are skipped. */
#ifndef BLURD_SERVER_MESSAGE_TOKENS_H
#define BLURD_SERVER_MESSAGE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { TOKENS_MAX = 64, TOKEN_SIZE_MIN = 16, TOKEN_SIZE_MAX = 256 };

struct tokens;

/* Reads the file. ST_ARGUMENT with a sentence that names file and line, but never a
 * token. An empty file is refused: it would lock everybody out. */
enum status tokens_load(struct tokens **tokens, const char *path, struct error *err);

/* NULL is allowed. */
void tokens_destroy(struct tokens *tokens);

/* Whether `authorization` (the header's value, may be NULL) carries a known token. The
 * time taken does not depend on how much of a token is right. Thread-safe. */
bool tokens_allow(const struct tokens *tokens, const char *authorization);

#endif
