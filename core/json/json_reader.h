/* SPDX-License-Identifier: MIT
 * Reads JSON (RFC 8259) step by step, without memory of its own: the caller knows what may come next. Every
 * function skips white space first. They return false when the text is not what was asked for, or no JSON;
 * then the offset tells where. */
#ifndef BLURD_CORE_JSON_READER_H
#define BLURD_CORE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/bytes.h"

enum { JSON_READER_DEPTH_MAX = 16 }; /* arrays and objects in each other */

struct json_reader {
    const char *begin, *at, *end;
    unsigned depth;
    bool first; /* the array or object has no element yet */
};

void json_reader_init(struct json_reader *reader, struct bytes text);

/* Bytes that were read. */
size_t json_reader_offset(const struct json_reader *reader);

/* The first character of the next value or sign; 0 at the end. */
char json_reader_peek(struct json_reader *reader);

/* Enters an array, '[', or an object, '{'. */
bool json_reader_open(struct json_reader *reader, char sign);

/* To be called before each element: sets *more when there is one, and else leaves the array, ']', or the
 * object, '}'. */
bool json_reader_next(struct json_reader *reader, char close, bool *more);

/* Reads the name of an object's element, with the colon. Escapes in names and texts become UTF-8, other bytes
 * stay; a zero byte is refused. Both are cut to `size` bytes with their zero. */
bool json_reader_name(struct json_reader *reader, char *name, size_t size);

bool json_reader_text(struct json_reader *reader, char *text, size_t size);

/* Reads a number of at most 62 characters that a double can hold. */
bool json_reader_number(struct json_reader *reader, double *value);

/* Passes over a value of any kind. */
bool json_reader_skip(struct json_reader *reader);

#endif
