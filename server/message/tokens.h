/* SPDX-License-Identifier: MIT
 * Bearer tokens (RFC 6750), one per line of a file; blank lines and lines that begin with # are skipped. */
#ifndef BLURD_SERVER_MESSAGE_TOKENS_H
#define BLURD_SERVER_MESSAGE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { TOKENS_MAX = 64, TOKEN_SIZE_MIN = 16, TOKEN_SIZE_MAX = 256 };

struct tokens;

/* Reads the file, of at most 64 KiB. ST_ARGUMENT names file and line, but never a token. An empty file is
 * refused, since no client could then be authorized. */
enum status tokens_load(struct tokens **tokens, const char *path, struct error *err);

/* NULL is allowed. */
void tokens_destroy(struct tokens *tokens);

/* Whether `authorization`, the header's value or NULL, carries a known token. Runs in constant time.
 * Thread-safe. */
bool tokens_allow(const struct tokens *tokens, const char *authorization);

#endif
