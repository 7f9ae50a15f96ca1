/* SPDX-License-Identifier: MIT */
#include "server/process/drain.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/http/http.h"
#include "server/process/activation.h"
#include "server/process/signals.h"
#include "server/service.h"

/* Waits until `fd` (-1: none) is readable or `ms` have passed; true when a signal came that asks to end. */
static bool wait_for(int fd, int signals, int64_t ms) {
    struct pollfd fds[2] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int64_t until = clock_ns() + ms * 1000000;
    for (;;) {
        int64_t left = (until - clock_ns() + 999999) / 1000000;
        if (left <= 0) {
            return false;
        }
        int ready = poll(fds, fd < 0 ? 1 : 2, (int)left);
        if (ready > 0 && (fds[0].revents & POLLIN)) {
            if (signals_wait(signals) != SIGHUP) { /* reloading is pointless by now */
                return true;
            }
        } else if (ready > 0) {
            return false;
        }
    }
}

/* Called at a second signal, which asks not to wait for clients. */
static _Noreturn void leave_now(void) {
    log_message(LOG_WARNING, "drain", "second signal: exiting at once");
    _exit(75); /* EX_TEMPFAIL */
}

/* Waits until no connection is left; false when that takes longer than `ms`. */
static bool wait_until_idle(struct service *service, const struct http *http, int signals, int64_t ms) {
    int64_t until = clock_ns() + ms * 1000000;
    while (http_connections(http) > 0) {
        int64_t left = (until - clock_ns()) / 1000000;
        if (left <= 0) {
            return false;
        }
        if (wait_for(service->idle_event, signals, left)) {
            leave_now();
        }
        /* An earlier connection may have written the event, too. */
        eventfd_t ignored;
        eventfd_read(service->idle_event, &ignored);
    }
    return true;
}

void drain(struct service *service, struct http *http, int signals) {
    struct settings *settings = settings_take(&service->settings);
    const struct config *config = &settings->config;
    atomic_store(&service->draining, true);
    metrics_set(service->metrics, METRIC_DRAINING, 1);
    activation_notify(service->notify, "STOPPING=1");
    log_message(LOG_INFO, "drain", "finishing %u requests", atomic_load(&service->active));
    if (config->drain_delay_ms > 0 && wait_for(-1, signals, config->drain_delay_ms)) {
        leave_now();
    }
    http_quiesce(http);
    bool idle = wait_until_idle(service, http, signals, config->drain_timeout_ms);
    if (!idle) {
        log_message(LOG_WARNING, "drain", "giving up on %u requests", atomic_load(&service->active));
    }
    workers_finish(service->workers, !idle); /* no connection may stay suspended when the library stops */
    settings_drop(settings);
}
