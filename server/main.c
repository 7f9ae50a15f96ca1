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
#include "gpu/gpu.h"
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

static struct gpu_options gpu_options(const struct service *service, char *const *arguments) {
    const struct config *config = service->config;
    return (struct gpu_options){
        .gpus = config->gpus,
        .format = config_choice_name(config->module_format),
        .cache_folder = config->module_cache,
        .library = config->cuda_library,
        .single_process = config->single_process,
        .timeout_ms = config->gpu_timeout_ms,
        .arguments = arguments,
        .reference = service->cpu,
        .slots = service->slots,
    };
}

/* The GPU first, since it is preferred; the CPU last, since it always works. */
static enum status open_backends(struct service *service, char *const *arguments, struct error *err) {
    const struct config *config = service->config;
    enum status status = cpu_backend_open(config_choice_name(config->cpu_level), &service->cpu, err);
    if (status == ST_OK && strcmp(config->gpus, "none") != 0) {
        struct gpu_options options = gpu_options(service, arguments);
        struct error why = {0};
        if (gpu_backend_open(&options, &service->backend[0], &why) == ST_OK) {
            service->backend_count = 1;
        } else {
            log_message(LOG_WARNING, "gpu", "%s", why.text);
        }
    }
    if (status == ST_OK) {
        service->backend[service->backend_count++] = service->cpu;
    }
    for (unsigned i = 0; i < service->backend_count; i++) {
        metrics_name_backend(service->metrics, i + 1, service->backend[i]->name);
    }
    return status;
}

/* With --require-gpu the start fails without one. */
static enum status await_gpu(const struct service *service, struct error *err) {
    char reason[BACKEND_REASON_MAX] = "built without CUDA";
    if (!service->config->require_gpu) {
        return ST_OK;
    }
    if (service->backend_count < 2 || backend_await(service->backend[0], reason) != BACKEND_SERVING) {
        return fail(err, ST_DEVICE, "--require-gpu: %.220s", reason);
    }
    return ST_OK;
}

/* Makes everything but the HTTP side. What was made is ended by service_finish. */
static enum status service_init(struct service *service, const struct config *config, char *const *arguments,
                                struct error *err) {
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
        status = open_backends(service, arguments, err);
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

static int serve(const struct config *config, char *const *arguments, struct error *err) {
    struct service service;
    struct http *http = NULL;
    int signals = open_signals();
    enum status status = service_init(&service, config, arguments, err);
    if (status == ST_OK) {
        status = http_start(&http, &service, err);
    }
    if (status == ST_OK) {
        log_message(LOG_INFO, "listening", "blurd %s on port %u, %s, gpu %s", BLURD_VERSION, service.port,
                    service.cpu->name, gpu_build_versions());
        status = await_gpu(&service, err);
        if (status == ST_OK) {
            wait_for(-1, signals, -1);
        }
        drain(&service, http, signals);
    }
    http_stop(http);
    service_finish(&service);
    close(signals);
    return status == ST_OK ? EX_OK : status == ST_DEVICE ? EX_UNAVAILABLE : EX_CONFIG;
}

/* The engine process is this program with one more argument in front (gpu/gpu.h). */
static bool take_engine_argument(int *argc, char **argv) {
    if (*argc < 2 || strcmp(argv[1], GPU_ENGINE_ARGUMENT) != 0) {
        return false;
    }
    memmove(&argv[1], &argv[2], (size_t)(*argc - 1) * sizeof argv[0]);
    --*argc;
    return true;
}

int main(int argc, char **argv) {
    struct config config;
    enum config_action action;
    struct error err = {0};
    bool engine = take_engine_argument(&argc, argv);
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
    if (engine) {
        struct service service = {.config = &config};
        struct gpu_options options = gpu_options(&service, argv);
        gpu_engine_main(&options);
    }
    int code = serve(&config, argv, &err);
    if (code != EX_OK) {
        log_message(LOG_ERROR, "start", "%s", err.text);
    }
    return code;
}
