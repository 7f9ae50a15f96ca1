/* SPDX-License-Identifier: MIT */
#include "server/process/bind_warning.h"

#include "core/log.h"

/* Bits of service->bind_warned. */
enum { EXPOSES_WORK = 1, EXPOSES_METRICS = 2 };

static const char *const sentences[] = {
    [EXPOSES_WORK] =
        "other machines may reach port %u, and it takes work without a token: set token_file, or "
        "listen on 127.0.0.1",
    [EXPOSES_METRICS] = "other machines may reach port %u, and it answers /metrics without a token: set "
                        "admin_listen, which moves /metrics to a port of its own",
    [EXPOSES_WORK | EXPOSES_METRICS] =
        "other machines may reach port %u, and it takes work and answers /metrics without a token: set "
        "token_file for the work and admin_listen for /metrics, or listen on 127.0.0.1",
};

void bind_warning(struct service *service, const struct config *config) {
    unsigned found = 0;
    if (service->public) {
        found |= config->token_file[0] ? 0 : EXPOSES_WORK;
        found |= service->admin ? 0 : EXPOSES_METRICS;
    }
    if (found != service->bind_warned && found) {
        log_message(LOG_WARNING, "exposed", sentences[found], service->port);
    }
    service->bind_warned = found;
}
