/* SPDX-License-Identifier: MIT
 * The OpenAPI description as it is sent, plain and compressed. The first request creates it, and it lives as
 * long as the settings that it describes. */
#ifndef BLURD_SERVER_PAGES_DOCUMENT_H
#define BLURD_SERVER_PAGES_DOCUMENT_H

#include <pthread.h>
#include <stdio.h>

#include "server/message/etag.h"
#include "server/pages/openapi.h"

struct document {
    pthread_mutex_t lock;     /* held while it is created */
    struct buf plain, packed; /* packed: gzip; empty until it is made */
    char tag[ETAG_MAX];       /* of the plain form */
};

void document_init(struct document *document);
void document_finish(struct document *document);

/* Creates the document unless it exists; the view must be the same each time. Afterwards it is constant.
 * Thread-safe. ST_BUSY without memory; the next call tries again. */
enum status document_make(struct document *document, const struct openapi_view *view, struct error *err);

/* Prints the description. False without memory, or when the stream takes no more. */
bool document_print(const struct openapi_view *view, FILE *stream);

#endif
