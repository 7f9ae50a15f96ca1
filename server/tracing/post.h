/* SPDX-License-Identifier: MIT
 * One HTTP POST over plain TCP. */
#ifndef BLURD_SERVER_TRACING_POST_H
#define BLURD_SERVER_TRACING_POST_H

#include "config/endpoint.h"
#include "core/bytes.h"

enum { POST_TIMEOUT_S = 5 }; /* for connecting, for each part sent, and for the answer */

/* Sends the body as application/json on a connection of its own and waits for the status. ST_BUSY where the
 * endpoint cannot be reached or gives another status than 2xx, ST_TIMEOUT where it is slow. Blocks. */
enum status post_json(const struct endpoint *endpoint, struct bytes body, struct error *err);

#endif
