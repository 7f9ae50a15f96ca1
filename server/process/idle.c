/* SPDX-License-Identifier: MIT */
#include "server/process/idle.h"

#include <malloc.h>
#include <poll.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/process/signals.h"
#include "server/service.h"

/* Milliseconds until idle_exit may be reached; 0: it is, -1: never. */
static int64_t time_left(struct service *service, int64_t limit_ms) {
    if (limit_ms == 0) {
        return -1;
    }
    if (atomic_load(&service->active) > 0) {
        return limit_ms; /* the idle time begins when the request ends */
    }
    /* Read after `active`: a request stores its time before it stops being active. */
    int64_t idle_ms = (clock_ns() - atomic_load(&service->asked_ns)) / 1000000;
    return idle_ms < limit_ms ? limit_ms - idle_ms : 0;
}

/* Returns memory of idle slots to the system. Returns the milliseconds until more may be idle, -1: the pool's
 * event tells. */
static int64_t trim(struct service *service) {
    int64_t ns = slot_pool_trim(service->slots, clock_ns());
    if (ns < 0) { /* idle for a while, so the heap can be trimmed, too */
        malloc_trim(0);
    }
    return ns < 0 ? -1 : ns / 1000000 + 1;
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
        int64_t trim_ms = trim(service);
        ms = ms < 0 || (trim_ms >= 0 && trim_ms < ms) ? trim_ms : ms; /* a day at most, which an int holds */
        struct pollfd fds[] = {{.fd = signals, .events = POLLIN},
                               {.fd = slot_pool_event(service->slots), .events = POLLIN}};
        if (poll(fds, 2, (int)ms) > 0 && fds[0].revents) {
            return signals_wait(signals);
        }
    }
}
