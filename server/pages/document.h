/* SPDX-License-Identifier: MIT
 * The description of the interface as it is sent, plain and compressed: made by the first request for it, and
 * kept as long as the settings that it tells. */
#ifndef BLURD_SERVER_PAGES_DOCUMENT_H
#define BLURD_SERVER_PAGES_DOCUMENT_H

#include <pthread.h>
#include <stdio.h>

#include "server/message/etag.h"
#include "server/pages/openapi.h"

struct document {
    pthread_mutex_t lock;     /* held while it is made */
    struct buf plain, packed; /* packed: gzip; empty until it is made */
    char tag[ETAG_MAX];       /* of the plain form */
};

void document_init(struct document *document);
void document_finish(struct document *document);

/* Makes it unless it is made, with the same view each time. Afterwards nothing of it changes. Thread-safe.
 * ST_BUSY without memory; the next call tries again. */
enum status document_make(struct document *document, const struct openapi_view *view, struct error *err);

/* Prints the description. False without memory, or when the stream takes no more. */
bool document_print(const struct openapi_view *view, FILE *stream);

#endif
