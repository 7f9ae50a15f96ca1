/* SPDX-License-Identifier: MIT
 * The query string, taken apart: name=value pairs between ampersands, percent-decoded
 * (RFC 3986; a plus is a plus). */
#ifndef BLURD_SERVER_MESSAGE_QUERY_H
#define BLURD_SERVER_MESSAGE_QUERY_H

#include "core/status.h"

enum { QUERY_NAME_MAX = 63, QUERY_VALUE_MAX = 4095 };

/* A pair; both texts are zero-terminated and hold no zero byte. */
struct query_pair {
    char name[QUERY_NAME_MAX + 1];
    char value[QUERY_VALUE_MAX + 1];
};

/* Reads the next pair at *cursor and moves it on; false at the end. Empty pairs
 * ("a=1&&b=2") are skipped. With *err filled (err->status set) the pair is malformed:
 * a broken percent escape, a zero byte, a name or value that is too long; stop then. */
_Bool query_next(const char **cursor, struct query_pair *pair, struct error *err);

#endif
