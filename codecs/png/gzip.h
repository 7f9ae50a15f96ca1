/* SPDX-License-Identifier: MIT
 * The gzip format (RFC 1952), for pages that are made once and sent often. Thread-safe. */
#ifndef BLURD_CODECS_PNG_GZIP_H
#define BLURD_CODECS_PNG_GZIP_H

#include "core/bytes.h"

/* Appends `plain`, compressed as far as possible. ST_BUSY without memory, ST_LIMIT over the buffer's
 * maximum. */
enum status gzip_pack(struct bytes plain, struct buf *out, struct error *err);

#endif
