/* SPDX-License-Identifier: MIT
 * Cross-origin requests (the Fetch standard): pages of the origins that the option cors_origins lists may
 * send pictures and read the answers. */
#ifndef BLURD_SERVER_MESSAGE_CORS_H
#define BLURD_SERVER_MESSAGE_CORS_H

#include <stdbool.h>
#include <stddef.h>

/* Response headers that a page may read, beside the few that the standard lets it read. */
extern const char cors_exposed_headers[];

/* Request headers that a page may send, beside the few that the standard lets it send. */
#define CORS_ALLOWED_HEADERS "Authorization, Content-Type, If-None-Match, X-Request-Id, traceparent"

#define CORS_MAX_AGE_S "3600" /* how long browsers may remember a preflight */

/* What the header fields of a request say about its origin. Zero-initialise. */
struct cors {
    char origin[256]; /* of the page that sends the request; empty: none, or too long */
    unsigned origins; /* Origin fields seen */
    bool preflight;   /* Access-Control-Request-Method was seen */
};

/* Takes the value of an Origin field. Several fields, or one that is too long, match no list. */
void cors_origin(struct cors *cors, const char *value, size_t size);

/* Whether `origins`, a list as in the option cors_origins, contains the request's origin. */
bool cors_is_listed(const struct cors *cors, const char *origins);

/* Whether the request is a preflight for a page of a listed origin. */
bool cors_is_preflight(const struct cors *cors, const char *method, const char *origins);

#endif
