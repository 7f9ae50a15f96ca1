/* SPDX-License-Identifier: MIT
 * Warns the operator when other machines can use the service or read its metrics. */
#ifndef BLURD_SERVER_PROCESS_BIND_WARNING_H
#define BLURD_SERVER_PROCESS_BIND_WARNING_H

#include "server/service.h"

/* Logs one warning when the port is public (service->public) and takes work without a token, or answers
 * /metrics; the warning names the options that change this. Does nothing while the result equals that of the
 * last call, so that it may be called after each reload. Main thread only. */
void bind_warning(struct service *service, const struct config *config);

#endif
