/* SPDX-License-Identifier: MIT
 * Cross-origin requests (the Fetch standard): pages of the origins that the option cors_origins lists may
 * send pictures and read the answers. Without the option nothing here does anything. */
#ifndef BLURD_SERVER_MESSAGE_CORS_H
#define BLURD_SERVER_MESSAGE_CORS_H

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Takes a value of the header Origin. More than one, or one that is too long, is no listed origin. */
void cors_origin(struct request *request, const char *value, size_t size);

/* Whether the request asks, for a page of a listed origin, what may be sent to its route. */
bool cors_is_preflight(const struct request *request);

/* Answers that: 204. `methods` is what the route takes. */
void cors_answer_preflight(struct request *request, const char *methods);

/* Adds to any other answer what lets a page of a listed origin read it, and Vary, for caches. */
void cors_add_headers(struct request *request);

#endif
