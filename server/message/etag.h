/* SPDX-License-Identifier: MIT
 * Entity tags (RFC 9110, 8.8.3). Thread-safe. */
#ifndef BLURD_SERVER_MESSAGE_ETAG_H
#define BLURD_SERVER_MESSAGE_ETAG_H

#include <stdbool.h>

#include "core/bytes.h"

enum { ETAG_MAX = 20 }; /* 16 digits, two quotes, a zero */

/* Writes a strong tag, quotes included, that changes when the bytes do. */
void etag_make(struct bytes bytes, char tag[ETAG_MAX]);

/* Whether a value of If-None-Match ("*", or tags between commas, "" for none) names the tag. Weak tags match
 * like strong ones (RFC 9110, 13.1.2). */
bool etag_matches(const char *list, const char *tag);

#endif
