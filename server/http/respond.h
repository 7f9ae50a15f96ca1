/* SPDX-License-Identifier: MIT
 * Makes what libmicrohttpd sends of a request's answer. */
#ifndef BLURD_SERVER_HTTP_RESPOND_H
#define BLURD_SERVER_HTTP_RESPOND_H

#include <microhttpd.h>
#include <stdbool.h>

struct request;

/* The library copies the headers and takes over the body without a copy. `last`: the connection is closed
 * behind it. The caller destroys the response. NULL without memory. */
struct MHD_Response *respond_make(struct request *request, bool last);

#endif
