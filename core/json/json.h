/* SPDX-License-Identifier: MIT
 * Escapes JSON strings (RFC 8259) for answers and log lines. */
#ifndef BLURD_CORE_JSON_H
#define BLURD_CORE_JSON_H

#include <stddef.h>

/* Writes `text` as a quoted JSON string into `out` of `capacity` bytes (at least 3), zero-terminated.
 * Control characters are escaped, invalid UTF-8 becomes U+FFFD, and text that does not fit is cut between
 * characters. Returns the length without the zero. */
size_t json_string(char *out, size_t capacity, const char *text);

#endif
