/* SPDX-License-Identifier: MIT
 * Tells the operator when machines that are not this one may use the service or read its metrics. */
#ifndef BLURD_SERVER_PROCESS_EXPOSURE_H
#define BLURD_SERVER_PROCESS_EXPOSURE_H

#include "server/service.h"

/* Logs one warning when the port is public (service->public) and needs no token, or when it answers /metrics,
 * and names the options that change that. Says nothing when the situation is as at the last call, so that it
 * may be called after each reload. Main thread only. */
void exposure_warn(struct service *service, const struct config *config);

#endif
