/* SPDX-License-Identifier: MIT
 * Problems that a client may get: one table from problem to HTTP status, title, slug (in the answer's `type`
 * and the metrics' `reason` label) and description. */
#ifndef BLURD_SERVER_PROBLEM_H
#define BLURD_SERVER_PROBLEM_H

#include <stdbool.h>

#include "core/bytes.h"
#include "core/status.h"

enum problem {
    PROBLEM_NONE,
    PROBLEM_ARGUMENT,     /* 400 a parameter is unknown, repeated, malformed or out of range */
    PROBLEM_REQUEST,      /* 400 the HTTP message itself is malformed or ambiguous */
    PROBLEM_CORRUPT,      /* 400 empty, damaged or truncated picture */
    PROBLEM_UNAUTHORIZED, /* 401 */
    PROBLEM_NOT_FOUND,    /* 404 */
    PROBLEM_METHOD,       /* 405 */
    PROBLEM_TIMEOUT,      /* 408 */
    PROBLEM_TOO_LARGE,    /* 413 body over the limit */
    PROBLEM_TARGET,       /* 414 request target too long */
    PROBLEM_UNSUPPORTED,  /* 415 a format or a variant that is not supported, a Content-Encoding */
    PROBLEM_NOTHING,      /* 422 no region, and one is required */
    PROBLEM_UNVERIFIED,   /* 422 a report does not hold */
    PROBLEM_LIMIT,        /* 422 too many pixels, scans, time */
    PROBLEM_THROTTLED,    /* 429 as PROBLEM_BUSY, with overload_status = 429 */
    PROBLEM_HEADERS,      /* 431 */
    PROBLEM_CANCELLED,    /* 499 the client went away: in logs and metrics only */
    PROBLEM_INTERNAL,     /* 500 our bug */
    PROBLEM_TRANSFER,     /* 501 a Transfer-Encoding other than chunked */
    PROBLEM_BUSY,         /* 503 */
    PROBLEM_COUNT
};

/* Which requests may be answered so, for the description of the interface. */
enum problem_where {
    PROBLEM_NOWHERE, /* no documented request */
    PROBLEM_EVERYWHERE,
    PROBLEM_WORK,  /* requests with a picture */
    PROBLEM_TOKEN, /* requests with a picture, while tokens are required */
};

struct problem_kind {
    const char *slug;
    unsigned http_status;
    const char *title;
    enum problem_where where;
    const char *header; /* that these answers have in addition; NULL: none */
    const char *help;   /* when it happens; Markdown */
};

const struct problem_kind *problem_kind(enum problem problem);

/* Maps a core status to a problem. */
enum problem problem_of(enum status status);

/* Whether the problem is PROBLEM_BUSY or PROBLEM_THROTTLED. */
bool problem_is_overload(enum problem problem);

/* Appends the application/problem+json body (RFC 9457): type, title, status, detail,
 * parameter where error->parameter names one, request_id. */
enum status problem_write(enum problem problem, const struct error *error, const char *request_id,
                          struct buf *out);

#endif
