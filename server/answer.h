/* SPDX-License-Identifier: MIT
 * Fills in the answer of a request. */
#ifndef BLURD_SERVER_ANSWER_H
#define BLURD_SERVER_ANSWER_H

struct document;
struct request;

/* Answers with a problem that request->error describes, as application/problem+json. */
void answer_problem(struct request *request, unsigned problem);

/* Answers with the picture, or its statistics, that pipeline_run left in the answer's body. */
void answer_picture(struct request *request);

/* Answers with a small text or JSON page of media type `type`, formatted as by printf; with 503 without
 * memory. */
void answer_page(struct request *request, unsigned http_status, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Answers with a document: 200 with an ETag for the form that is sent, gzip if the client accepts it, or 304
 * when the client has that form. */
void answer_document(struct request *request, const struct document *document);

/* Completes an answer whose body the caller has written, and which no cache may keep. `type` may be NULL when
 * it has none. */
void answer_done(struct request *request, unsigned http_status, const char *type);

/* The same for a page that caches may keep, and have to ask for again: `tag` is its ETag, in quotes. */
void answer_tagged(struct request *request, unsigned http_status, const char *type, const char *tag);

/* Answers a preflight: 204. `methods` is what the route takes. */
void answer_preflight(struct request *request, const char *methods);

/* Adds a header; `name` must be constant. Dropped when there are too many. */
void answer_header(struct request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
