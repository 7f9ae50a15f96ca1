/* SPDX-License-Identifier: MIT
 * Start, wait for a signal, drain, end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "config/cores.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/version.h"
#include "cpu/cpu.h"
#include "gpu/versions.h"
#include "server/http.h"
#include "server/routes.h"
#include "server/service.h"

/* Every connection takes a descriptor, and may take a slot's; the rest is for files. */
static enum status raise_descriptor_limit(const struct config *config, struct error *err) {
    rlim_t want = (rlim_t)config->connections * 2 + 64;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < want) {
        limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < want) {
        return fail(err, ST_ARGUMENT,
                    "--connections %u needs %ju open files, the limit is %ju: raise it (ulimit -n) or lower "
                    "--connections",
                    config->connections, (uintmax_t)want, (uintmax_t)limit.rlim_cur);
    }
    return ST_OK;
}

static int open_signals(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    signal(SIGPIPE, SIG_IGN);
    /* Before the first thread, so that every thread has them blocked. */
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC);
}

static enum status open_backends(struct service *service, struct error *err) {
    const char *level = config_choice_name(service->config->cpu_level);
    enum status status = cpu_backend_open(level, &service->backend[0], err);
    if (status == ST_OK) {
        service->backend_count = 1;
        metrics_name_backend(service->metrics, 1, service->backend[0]->name);
    }
    return status;
}

/* Makes everything but the HTTP side. What was made is ended by service_finish. */
static enum status service_init(struct service *service, const struct config *config, struct error *err) {
    unsigned operations;
    const char *const *names = route_names(&operations);
    *service = (struct service){.config = config, .idle_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    service->metrics = metrics_create(names, operations);
    service->slots = slot_pool_create(config->memory);
    if (!service->metrics || !service->slots || service->idle_event < 0) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = raise_descriptor_limit(config, err);
    if (status == ST_OK && config->token_file[0]) {
        status = tokens_load(&service->tokens, config->token_file, err);
    }
    if (status == ST_OK) {
        status = open_backends(service, err);
    }
    if (status == ST_OK) {
        unsigned count = config->workers ? config->workers : cores_usable();
        status = workers_create(&service->workers, service, count, config->queue, err);
    }
    return status == ST_OK ? watchdog_create(&service->watchdog, err) : status;
}

static void service_finish(struct service *service) {
    watchdog_destroy(service->watchdog);
    workers_finish(service->workers, true); /* after a start that failed */
    workers_destroy(service->workers);
    for (unsigned i = 0; i < service->backend_count; i++) {
        backend_close(service->backend[i]);
    }
    tokens_destroy(service->tokens);
    slot_pool_destroy(service->slots);
    metrics_destroy(service->metrics);
    close(service->idle_event);
}

/* A second signal: whoever sent it does not want to wait for clients. */
static _Noreturn void leave_now(void) {
    log_message(LOG_WARNING, "drain", "second signal: leaving at once");
    _exit(EX_TEMPFAIL);
}

/* Waits until `fd` is readable or `ms` have passed (-1: for ever). A signal during the
 * wait ends it, too; returns whether one came. */
static bool wait_for(int fd, int signals, int64_t ms) {
    struct pollfd fds[2] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int64_t until = ms < 0 ? INT64_MAX : clock_ns() + ms * 1000000;
    for (;;) {
        int64_t left = until == INT64_MAX ? -1 : (until - clock_ns() + 999999) / 1000000;
        if (until != INT64_MAX && left <= 0) {
            return false;
        }
        int ready = poll(fds, fd < 0 ? 1 : 2, (int)left);
        if (ready > 0 && (fds[0].revents & POLLIN)) {
            struct signalfd_siginfo info;
            return read(signals, &info, sizeof info) == sizeof info;
        }
        if (ready > 0) {
            return false;
        }
    }
}

/* Waits until no request is left, at most `ms`; false when they took longer. */
static bool wait_until_idle(struct service *service, int signals, int64_t ms) {
    int64_t until = clock_ns() + ms * 1000000;
    while (atomic_load(&service->active) > 0) {
        int64_t left = (until - clock_ns()) / 1000000;
        if (left <= 0) {
            return false;
        }
        if (wait_for(service->idle_event, signals, left)) {
            leave_now();
        }
        /* It may also have been written by a probe that ended before the others. */
        eventfd_t ignored;
        eventfd_read(service->idle_event, &ignored);
    }
    return true;
}

/* Readiness fails at once; connections are accepted for the delay, since a load balancer
 * notices late; then what is in flight is finished. */
static void drain(struct service *service, struct http *http, int signals) {
    const struct config *config = service->config;
    atomic_store(&service->draining, true);
    metrics_set(service->metrics, METRIC_DRAINING, 1);
    log_message(LOG_INFO, "drain", "finishing %u requests", atomic_load(&service->active));
    if (config->drain_delay_ms > 0 && wait_for(-1, signals, config->drain_delay_ms)) {
        leave_now();
    }
    http_quiesce(http);
    bool idle = wait_until_idle(service, signals, config->drain_timeout_ms);
    if (!idle) {
        log_message(LOG_WARNING, "drain", "giving up on %u requests", atomic_load(&service->active));
    }
    workers_finish(service->workers, !idle); /* no connection may stay suspended when the library stops */
}

static int serve(const struct config *config, struct error *err) {
    struct service service;
    struct http *http = NULL;
    int signals = open_signals();
    enum status status = service_init(&service, config, err);
    if (status == ST_OK) {
        status = http_start(&http, &service, err);
    }
    if (status == ST_OK) {
        log_message(LOG_INFO, "listening", "blurd %s on port %u, %s, gpu %s", BLURD_VERSION, service.port,
                    service.backend[0]->name, gpu_build_versions());
        wait_for(-1, signals, -1);
        drain(&service, http, signals);
    }
    http_stop(http);
    service_finish(&service);
    close(signals);
    return status == ST_OK ? EX_OK : EX_CONFIG;
}

int main(int argc, char **argv) {
    struct config config;
    enum config_action action;
    struct error err = {0};
    if (config_load(&config, &action, argc, argv, environ, &err) != ST_OK) {
        fprintf(stderr, "blurd: %s\n", err.text);
        return EX_CONFIG;
    }
    if (action != CONFIG_RUN) {
        char version[160];
        snprintf(version, sizeof version, "blurd %s (%s)", BLURD_VERSION, gpu_build_versions());
        return config_answer(action, &config, version, stdout);
    }
    log_init((enum log_level)(config.log_level - CHOICE_log_level_error),
             config.log_format == CHOICE_log_format_json ? LOG_JSON : LOG_TEXT);
    int code = serve(&config, &err);
    if (code != EX_OK) {
        log_message(LOG_ERROR, "start", "%s", err.text);
    }
    return code;
}
