/* SPDX-License-Identifier: MIT
 * Parses the query string: name=value pairs between ampersands, percent-decoded (RFC 3986; a plus is a
 * plus). */
#ifndef BLURD_SERVER_MESSAGE_QUERY_H
#define BLURD_SERVER_MESSAGE_QUERY_H

#include "core/status.h"

enum { QUERY_NAME_MAX = 63, QUERY_VALUE_MAX = 4095 };

/* A pair; both texts are zero-terminated and hold no zero byte. */
struct query_pair {
    char name[QUERY_NAME_MAX + 1];
    char value[QUERY_VALUE_MAX + 1];
};

/* Reads the next pair at *cursor and advances the cursor; false at the end. Empty pairs ("a=1&&b=2") are
 * skipped. When err->status is set, the pair is malformed: a broken percent escape, a zero byte, or a name or
 * value that is too long. Stop then. */
_Bool query_next(const char **cursor, struct query_pair *pair, struct error *err);

#endif
