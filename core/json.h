/* SPDX-License-Identifier: MIT
 * Writing JSON: only what answers and log lines need, which is escaping (RFC 8259). */
#ifndef BLURD_CORE_JSON_H
#define BLURD_CORE_JSON_H

#include <stddef.h>

/* Writes `text` as a JSON string, quotes included, into `out` of `capacity` bytes
 * (at least 3), zero-terminated. Control characters are escaped, bytes that are not
 * valid UTF-8 become U+FFFD, and what does not fit is cut between characters.
 * Returns the length without the zero. */
size_t json_string(char *out, size_t capacity, const char *text);

#endif
