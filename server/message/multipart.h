/* SPDX-License-Identifier: MIT
 * multipart/form-data (RFC 7578) over a body in memory. Parts are views into it; nothing is copied. */
#ifndef BLURD_SERVER_MESSAGE_MULTIPART_H
#define BLURD_SERVER_MESSAGE_MULTIPART_H

#include <stdbool.h>

#include "core/bytes.h"

enum {
    MULTIPART_BOUNDARY_MAX = 70, /* RFC 2046 */
    MULTIPART_PARTS_MAX = 128,   /* the picture, 64 regions, every other parameter, and room */
    MULTIPART_HEADER_MAX = 4096, /* bytes of one part's header */
    MULTIPART_NAME_MAX = 63,
};

struct multipart {
    char delimiter[MULTIPART_BOUNDARY_MAX + 5]; /* CR LF - - boundary */
    size_t delimiter_size;
    struct bytes rest; /* not read yet */
    unsigned parts;
};

struct part {
    char name[MULTIPART_NAME_MAX + 1];
    bool is_file;     /* has a file name, which is never used */
    bool is_binary;   /* its Content-Type is that of a picture, or of bytes of no special kind */
    bool is_unfilled; /* an empty part with an empty file name: a form's field for a file that was not chosen
                       */
    struct bytes data;
};

/* Whether the Content-Type says multipart/form-data. NULL is allowed. */
bool multipart_is(const char *content_type);

/* Begins reading `body`. ST_CORRUPT without a usable boundary or first delimiter. */
enum status multipart_begin(struct multipart *multipart, const char *content_type, struct bytes body,
                            struct error *err);

/* Reads the next part; *found is false after the closing delimiter and where it fails. ST_CORRUPT for a
 * malformed, endless or oversized part. */
enum status multipart_next(struct multipart *multipart, struct part *part, bool *found, struct error *err);

#endif
