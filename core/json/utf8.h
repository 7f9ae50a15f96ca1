/* SPDX-License-Identifier: MIT
 * Recognises UTF-8. Thread-safe. */
#ifndef BLURD_CORE_UTF8_H
#define BLURD_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the valid UTF-8 sequence at `p` (RFC 3629, table 3-7 of Unicode), 0 if none. Reads no byte after
 * a zero. */
size_t utf8_length(const unsigned char *p);

/* Whether a zero-terminated text is UTF-8 as a whole. */
bool utf8_is_valid(const char *text);

#endif
