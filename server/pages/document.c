/* SPDX-License-Identifier: MIT */
#include "server/pages/document.h"

#include "codecs/png/gzip.h"

enum { DOCUMENT_MAX = 1 << 20 };

void document_init(struct document *document) {
    *document = (struct document){0};
    pthread_mutex_init(&document->lock, NULL);
}

void document_finish(struct document *document) {
    buf_finish(&document->plain);
    buf_finish(&document->packed);
    pthread_mutex_destroy(&document->lock);
}

static enum status make(struct document *document, const struct openapi_view *view, struct error *err) {
    buf_init(&document->plain, DOCUMENT_MAX);
    buf_init(&document->packed, DOCUMENT_MAX);
    enum status status = openapi_write(view, &document->plain, err);
    if (status == ST_OK) {
        status = gzip_pack(buf_bytes(&document->plain), &document->packed, err);
    }
    if (status != ST_OK) {
        buf_finish(&document->plain);
        buf_finish(&document->packed);
        return status;
    }
    etag_make(buf_bytes(&document->plain), document->tag);
    return ST_OK;
}

enum status document_make(struct document *document, const struct openapi_view *view, struct error *err) {
    pthread_mutex_lock(&document->lock);
    enum status status = document->packed.size > 0 ? ST_OK : make(document, view, err);
    pthread_mutex_unlock(&document->lock);
    return status;
}

bool document_print(const struct openapi_view *view, FILE *stream) {
    struct buf text;
    struct error err = {0};
    buf_init(&text, DOCUMENT_MAX);
    bool printed = openapi_write(view, &text, &err) == ST_OK &&
                   fwrite(text.data, 1, text.size, stream) == text.size && fflush(stream) == 0;
    buf_finish(&text);
    return printed;
}
