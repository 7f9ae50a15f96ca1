/* SPDX-License-Identifier: MIT */
#include "server/idle.h"

#include <poll.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/drain.h"
#include "server/service.h"

/* Milliseconds until it may be time to end, 0: it is, -1: never. */
static int64_t time_left(struct service *service, int64_t limit_ms) {
    if (limit_ms == 0) {
        return -1;
    }
    if (atomic_load(&service->active) > 0) {
        return limit_ms; /* at least so long after its end */
    }
    /* Only now: what is not active any more has left its time here. */
    int64_t idle_ms = (clock_ns() - atomic_load(&service->asked_ns)) / 1000000;
    return idle_ms < limit_ms ? limit_ms - idle_ms : 0;
}

int idle_wait(struct service *service, int signals) {
    struct settings *settings = settings_take(&service->settings);
    int64_t limit_ms = settings->config.idle_exit_ms;
    settings_drop(settings);
    for (;;) {
        int64_t ms = time_left(service, limit_ms);
        if (ms == 0) {
            log_message(LOG_INFO, "idle", "no request for %lld ms", (long long)limit_ms);
            return 0;
        }
        struct pollfd fd = {.fd = signals, .events = POLLIN};
        if (poll(&fd, 1, (int)ms) > 0) { /* idle_exit is a day at most, which an int holds */
            return signals_wait(signals);
        }
    }
}
