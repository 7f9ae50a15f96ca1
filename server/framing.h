/* SPDX-License-Identifier: MIT
 * Guards against request smuggling: refuses every HTTP message whose end two parsers could see in different
 * places (RFC 9112, sections 6 and 11.2), because libmicrohttpd 0.9.75 accepts several of them. Header fields
 * are checked one by one, independently of the library. What is not visible at this level (bare LF, folded
 * lines) is refused by libmicrohttpd 1.0 in its strict mode. */
#ifndef BLURD_SERVER_FRAMING_H
#define BLURD_SERVER_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/problem.h"

enum {
    HEADER_COUNT_MAX = 100,
    HEADER_BYTES_MAX = 16 << 10, /* names and values together */
};

/* The header fields seen so far. Zero-initialise. */
struct framing {
    unsigned headers;
    size_t header_bytes;
    unsigned hosts;
    unsigned content_lengths;
    unsigned transfer_encodings;
    uint64_t content_length; /* valid when content_lengths is 1 and verdict is PROBLEM_NONE */
    bool chunked;
    bool expects_continue;
    enum problem verdict; /* the first error */
    const char *reason;   /* a constant sentence for it */
};

/* Checks one header field. Sizes are as received: a value with a zero byte is refused. */
void framing_header(struct framing *framing, const char *name, size_t name_size, const char *value,
                    size_t value_size);

/* Refuses a request line with a zero byte. libmicrohttpd 0.9.75 puts a zero byte in place of each blank and
 * hands out three strings. One that ends earlier, at a zero byte of the client's, hides the rest of the line;
 * then the next string does not begin right behind its end. All pointers are into the library's buffer, and
 * only `method` is read. `end` is the end of the target as it was received. */
void framing_line(struct framing *framing, const char *method, const char *target, const char *end,
                  const char *version);

/* Checks the whole message after its last field. `version` as in "HTTP/1.1". */
enum problem framing_judge(struct framing *framing, const char *version);

#endif
