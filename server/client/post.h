/* SPDX-License-Identifier: MIT
 * Sends one form to a daemon on this machine, and waits for the answer. */
#ifndef BLURD_SERVER_CLIENT_POST_H
#define BLURD_SERVER_CLIENT_POST_H

#include <stdint.h>

#include "core/bytes.h"
#include "core/status.h"

struct post_part {
    const char *name;
    struct bytes data;
};

/* Posts the parts to a path over a connected socket, and reads the answer: its status, and its body into
 * `answer`, which is initialised. Nothing can follow on the socket, which stays the caller's. Blocks.
 * ST_BUSY: the connection failed or the answer is no HTTP; ST_LIMIT: it is larger than `answer` may be. */
enum status post_form(int fd, const char *path, const struct post_part *part, unsigned count,
                      unsigned *http_status, struct buf *answer, struct error *err);

/* Writes the sentence of a problem (RFC 9457) that was answered, cut to `size` bytes. */
void post_detail(struct bytes problem, char *detail, size_t size);

#endif
