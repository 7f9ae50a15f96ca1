/* SPDX-License-Identifier: MIT
 * Making answers. */
#ifndef BLURD_SERVER_ANSWER_H
#define BLURD_SERVER_ANSWER_H

struct request;

/* The problem that request->error describes, as application/problem+json. */
void answer_problem(struct request *request, unsigned problem);

/* The picture, or the statistics of one, that pipeline_run left in the answer's body. */
void answer_picture(struct request *request);

/* A small text or JSON page; `type` is its media type, the rest as for printf. A 503 without memory for it.
 */
void answer_page(struct request *request, unsigned http_status, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Completes an answer whose body the caller has written. */
void answer_done(struct request *request, unsigned http_status, const char *type);

/* Adds a header; `name` must be constant. Dropped when there are too many. */
void answer_header(struct request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
