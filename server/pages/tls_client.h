/* SPDX-License-Identifier: MIT
 * A TLS client for the daemon's own health check. */
#ifndef BLURD_SERVER_PAGES_TLS_CLIENT_H
#define BLURD_SERVER_PAGES_TLS_CLIENT_H

#include "core/bytes.h"
#include "core/status.h"

/* Sends `request` over TLS on the connected socket `fd` and stores the first `size` bytes of the answer.
 * Accepts any certificate: the check only asks whether the server answers, and the request holds no secret.
 * Blocks without a limit. ST_ARGUMENT with a sentence when there is no TLS server, or when it sends fewer
 * bytes. */
enum status tls_client_ask(int fd, struct bytes request, char *answer, size_t size, struct error *err);

#endif
