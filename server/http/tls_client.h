/* SPDX-License-Identifier: MIT
 * A TLS client for the daemon's own health check. */
#ifndef BLURD_SERVER_HTTP_TLS_CLIENT_H
#define BLURD_SERVER_HTTP_TLS_CLIENT_H

#include "core/bytes.h"
#include "core/status.h"

/* Speaks TLS over the connected socket `fd`: sends `request` and stores the first `size` bytes of what comes
 * back in `answer`. Any certificate will do, as the question is whether the server answers, and the request
 * holds no secret. Blocks without a limit. ST_ARGUMENT with a sentence when there is no TLS server, or when
 * it ends before that many bytes. */
enum status tls_client_ask(int fd, struct bytes request, char *answer, size_t size, struct error *err);

#endif
