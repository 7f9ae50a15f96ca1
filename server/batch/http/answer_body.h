/* SPDX-License-Identifier: MIT
 * The body of an answer, read from a socket behind its head. */
#ifndef BLURD_SERVER_BATCH_HTTP_ANSWER_BODY_H
#define BLURD_SERVER_BATCH_HTTP_ANSWER_BODY_H

#include "server/batch/http/answer_head.h"
#include "server/batch/http/client_socket.h"

struct answer_body {
    struct client_socket *socket;
    uint64_t left; /* bytes that are not read yet */
};

/* Appends all that is left to `kept`. ST_BUSY: the connection was cut; ST_LIMIT: it is larger than `kept`
 * may be. */
enum status answer_body_keep(struct answer_body *body, struct buf *kept, struct error *err);

/* Where a body goes. */
struct answer_file {
    int fd;
    uint64_t bytes;     /* written so far, also by an answer that was cut: the file begins anew then */
    struct buf *report; /* gets the report of a redaction */
};

/* Writes all that is left to a file from its start, or the picture of a multipart/mixed answer, whose report
 * goes to file->report; its type replaces that of the head. ST_BUSY: the connection was cut; ST_INTERNAL: the
 * file cannot be written; ST_CORRUPT: the parts are not as blurd sends them. */
enum status answer_body_write(struct answer_body *body, struct answer_head *head, struct answer_file *file,
                              struct error *err);

#endif
