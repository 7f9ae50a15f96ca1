/* SPDX-License-Identifier: MIT
 * The body of an answer, read from a socket behind its head. */
#ifndef BLURD_SERVER_CLIENT_HTTP_ANSWER_BODY_H
#define BLURD_SERVER_CLIENT_HTTP_ANSWER_BODY_H

#include "server/client/http/answer_head.h"
#include "server/client/http/client_socket.h"

struct answer_body {
    struct client_socket *socket;
    uint64_t left; /* bytes that are not read yet */
};

/* Receives the head of the answer, and begins with its body. Passes over 100 Continue, unless `informational`
 * answers are wanted, too. ST_BUSY: the connection was cut, or nothing came for CLIENT_SOCKET_WAIT_S;
 * ST_CORRUPT: it is no HTTP, or its head is larger than the buffer. */
enum status answer_body_begin(struct answer_body *body, bool informational, struct answer_head *head,
                              struct error *err);

/* Appends all that is left to `kept`. ST_BUSY: the connection was cut; ST_LIMIT: it is larger than `kept`
 * may be. */
enum status answer_body_keep(struct answer_body *body, struct buf *kept, struct error *err);

/* Passes over all that is left. ST_BUSY: the connection was cut. */
enum status answer_body_skip(struct answer_body *body, struct error *err);

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
