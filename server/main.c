/* SPDX-License-Identifier: MIT
 * Starts the daemon, waits for a signal or for idle_exit, drains and ends. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "config/cores.h"
#include "config/job/job.h"
#include "config/memory.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/process/descriptors.h"
#include "core/processor.h"
#include "core/tuned.h"
#include "core/version.h"
#include "cpu/cpu.h"
#include "gpu/front/versions.h"
#include "gpu/gpu.h"
#include "server/batch/job_command.h"
#include "server/client/actions.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "server/overload.h"
#include "server/process/activation.h"
#include "server/process/bind_warning.h"
#include "server/process/drain.h"
#include "server/process/effective.h"
#include "server/process/idle.h"
#include "server/process/models.h"
#include "server/process/reload.h"
#include "server/process/sandbox.h"
#include "server/process/signals.h"
#include "server/process/spawners.h"
#include "server/process/transcode_sample.h"
#include "server/routes.h"
#include "server/service.h"
#include "server/work.h"

enum { HEAP_PIECE = 8 << 20, HEAP_KEPT = 32 << 20 };

/* Every connection takes a descriptor, and so may its body and, with a GPU, its answer. A worker may have a
 * work slot, an exchange and two sockets to codecs and, with a GPU, a lent slot and a socket. There are fewer
 * than two workers per counted one. An entropy-decode worker has no codecs. An event thread has three. */
static enum status reserve_descriptors(const struct service *service, unsigned workers, struct error *err) {
    const struct config *config = service->config;
    rlim_t want = (rlim_t)config->connections * (service->gpu ? 3 : 2) + (rlim_t)workers * 9 +
                  (rlim_t)service->gpu_concurrency * 5 + (rlim_t)service->entropy_decodes * 3 +
                  (rlim_t)http_threads(config, service->cores) * 3 + 64;
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
    descriptors_expect((unsigned)want);
    return ST_OK;
}

static struct gpu_options gpu_options(const struct service *service) {
    const struct config *config = service->config;
    return (struct gpu_options){
        .gpus = config->gpus,
        .format = config_choice_name(config->module_format),
        .cache_folder = config->module_cache,
        .library = config->cuda_library,
        .models = models_paths(config),
        .single_process = config->single_process,
        .timeout_ms = config->gpu_timeout_ms,
        .work_timeout_ms = config->work_timeout_ms,
        .jpeg = service->gpu_concurrency > 0,
        .pictures = config->gpu_pictures,
        .sandbox = config->sandbox != CHOICE_sandbox_off && !config->single_process,
        .sandbox_must = config->sandbox == CHOICE_sandbox_on,
        .spawner = service->spawner,
        .reference = service->cpu,
        .slots = service->slots,
        .sample = transcode_sample,
    };
}

/* The GPU comes first, since it is preferred; the CPU comes last, since it always works. */
static enum status open_backends(struct service *service, struct error *err) {
    const struct config *config = service->config;
    enum status status = cpu_backend_open(config_choice_name(config->cpu_level), &service->cpu, err);
    if (status != ST_OK) {
        return status;
    }
    for (unsigned i = 0; i < DETECTORS; i++) {
        cpu_backend_use_model(service->cpu, i, service->model[i]);
    }
    if (service->gpu && (service->spawner || config->single_process)) {
        struct gpu_options options = gpu_options(service);
        struct error why = {0};
        if (gpu_backend_open(&options, &service->backend[0], &why) == ST_OK) {
            service->backend_count = 1;
        } else {
            log_message(LOG_WARNING, "gpu", "%s", why.text);
        }
    }
    service->backend[service->backend_count++] = service->cpu;
    for (unsigned i = 0; i < service->backend_count; i++) {
        metrics_name_backend(service->metrics, i + 1, service->backend[i]->name);
    }
    return ST_OK;
}

/* With --require-gpu the start fails without a GPU. */
static enum status await_gpu(const struct service *service, struct error *err) {
    char reason[BACKEND_REASON_MAX];
    if (!service->config->require_gpu) {
        return ST_OK;
    }
    snprintf(reason, sizeof reason, "%s",
             service->gpu                                 ? "blurd was built without CUDA"
             : strcmp(service->config->gpus, "none") == 0 ? "gpus is none"
                                                          : "this host has no GPU and no CUDA driver");
    if (service->backend_count < 2 || backend_await(service->backend[0], reason) != BACKEND_SERVING) {
        return fail(err, ST_DEVICE, "--require-gpu: %.220s", reason);
    }
    return ST_OK;
}

/* Sets how the heap of a process works that may use so many cores. Called before the first thread. More
 * arenas would leave more memory in use, since malloc_trim returns the end of the first one only; for the
 * lock of a single one event threads wait. Answers of usual size come from the heap, which keeps some of its
 * free memory: returning it with each answer costs a page fault for every 4 KiB of the next one. */
static void set_heap(uint32_t cores) {
    uint32_t arenas = cores / TUNED_ARENA_CORES;
    arenas = arenas < 1 ? 1 : arenas > TUNED_ARENAS ? TUNED_ARENAS : arenas;
    mallopt(M_ARENA_MAX, (int)arenas);
    mallopt(M_MMAP_THRESHOLD, HEAP_PIECE);
    mallopt(M_TRIM_THRESHOLD, (int)(HEAP_KEPT / arenas)); /* bytes that each arena keeps */
}

/* Prepares everything that must precede the sandbox and the first thread: the processes that start others,
 * facts about the machine, the connection to the service manager. */
static void service_prepare(struct service *service, const struct command *command,
                            const struct config *config) {
    *service = (struct service){.config = config,
                                .cores = cores_usable(),
                                .memory = memory_budget(config->memory),
                                .http_library = http_library(),
                                .idle_event = -1};
    set_heap(service->cores);
    processor_limit(processor_level(config_choice_name(config->cpu_level)));
    service->notify = activation_connect();
    service->gpu = effective_gpu(config);
    service->gpu_concurrency = service->gpu ? effective_gpu_concurrency(config) : 0;
    service->entropy_decodes = effective_entropy_decodes(config, service->gpu_concurrency);
    settings_init(&service->settings);
    model_digests_init(&service->model_digests);
    if (!service->gpu && strcmp(config->gpus, "none") != 0) {
        log_message(LOG_INFO, "gpu", "no GPU: the CPU does all the work");
    }
    spawners_fork(service, command->argv);
}

/* Creates everything but the HTTP side. service_finish undoes it, also after a failure. */
static enum status service_init(struct service *service, struct error *err) {
    const struct config *config = service->config;
    unsigned operations;
    const char *const *names = routes_names(&operations);
    service->idle_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    service->metrics = metrics_create(names, operations);
    service->slots = slot_pool_create(service->memory);
    if (!service->metrics || !service->slots || service->idle_event < 0) {
        return fail(err, ST_BUSY, "out of memory");
    }
    struct settings *settings;
    unsigned workers = config->workers ? config->workers : service->cores;
    unsigned threads = 2 * workers + service->gpu_concurrency + service->entropy_decodes;
    unsigned each = service->gpu ? 2 : 1; /* a slot that is lent and one that is not */
    slot_pool_limit(service->slots,
                    memory_request_max(service->memory, each * config->connections, each * threads));
    enum status status = reserve_descriptors(service, workers, err);
    if (status == ST_OK) {
        status = settings_create(&settings, config, err);
    }
    if (status == ST_OK) {
        settings_replace(&service->settings, settings);
        status = open_backends(service, err);
    }
    if (status == ST_OK) {
        status =
            overload_start_workers(service, workers, &(struct workers_calls){work_run, work_refuse}, err);
    }
    return status;
}

static void service_finish(struct service *service) {
    workers_finish(service->workers, true); /* needed after a failed start */
    workers_destroy(service->workers);
    for (unsigned i = 0; i < service->backend_count; i++) {
        backend_close(service->backend[i]);
    }
    models_close(service->model);
    spawners_end(service);
    settings_finish(&service->settings);
    model_digests_finish(&service->model_digests);
    slot_pool_destroy(service->slots);
    metrics_destroy(service->metrics);
    close(service->idle_event);
    close(service->notify);
}

/* Takes the sockets that were inherited, and binds the others, which the sandbox forbids for those in the
 * file system. fd[1] stays -1 without a second listener. */
static enum status bind_sockets(struct service *service, int fd[2], struct error *err) {
    const struct config *config = service->config;
    struct activation given;
    uint16_t admin_port = (uint16_t)config->admin_port;
    char name[LISTEN_NAME_MAX];
    service->port = (uint16_t)config->port;
    enum status status = activation_take(&given, err);
    fd[0] = given.listen;
    fd[1] = given.admin;
    if (status == ST_OK && fd[0] < 0) {
        status = listen_bind(config->listen, &service->port, &fd[0], err);
    }
    if (status == ST_OK && fd[1] < 0 && config->admin_listen[0]) {
        status = listen_bind(config->admin_listen, &admin_port, &fd[1], err);
    }
    if (status == ST_OK) {
        listen_port(fd[0], &service->port);
        listen_name(fd[0], service->name);
        listen_url(fd[0], config->tls_cert[0] != '\0', service->url);
        service->public = listen_is_public(fd[0]);
    }
    if (status == ST_OK && fd[1] >= 0) {
        service->admin = true;
        listen_name(fd[1], name);
        log_message(LOG_INFO, "admin", "health and metrics on %s", name);
    }
    return status;
}

/* The filter of system calls comes last before clients do. */
static enum status open_listeners(struct service *service, struct sandbox *sandbox, int fd[2],
                                  struct http *https[2], struct error *err) {
    http_prepare();
    enum status status = ST_OK;
    for (unsigned i = 0; i < 2 && status == ST_OK; i++) {
        status = fd[i] >= 0 ? listen_start(fd[i], err) : ST_OK;
    }
    status = status == ST_OK ? sandbox_calls(sandbox, service->config, err) : status;
    for (unsigned i = 2; i-- > 0 && status == ST_OK;) { /* work is taken when nothing can fail any more */
        if (fd[i] >= 0) {
            status = http_start(&https[i], service, fd[i], i == 1, err);
            fd[i] = -1;
        }
    }
    return status;
}

static void announce(struct service *service) {
    log_message(LOG_INFO, "listening", "blurd %s on %s, %s, gpu %s", BLURD_VERSION, service->name,
                service->cpu->name, gpu_versions_text());
    bind_warning(service, service->config);
    if (service->config->playground && service->url[0]) {
        log_message(LOG_INFO, "playground", "%s shows browsers a page to try the filters with", service->url);
    }
}

static int serve(const struct command *command, const struct config *config, struct error *err) {
    struct service service;
    struct sandbox sandbox = SANDBOX_NOTHING;
    struct http *https[2] = {NULL, NULL};
    int fd[2] = {-1, -1};
    log_never_wait();
    int signals = signals_open();
    enum status status =
        signals < 0 ? fail(err, ST_BUSY, "cannot receive signals: %s", strerror(errno)) : ST_OK;
    service_prepare(&service, command, config);
    sandbox.notify = service.notify;
    sandbox.pairs = service.spawner || service.codecs;
    status = status == ST_OK ? models_open(config, service.model, &service.detectors, err) : status;
    status = status == ST_OK ? bind_sockets(&service, fd, err) : status;
    if (status == ST_OK) { /* without signals it could only be killed */
        status = sandbox_files(&sandbox, config, config_file(command->argc, command->argv, environ), err);
    }
    if (status == ST_OK) {
        status = service_init(&service, err);
    }
    if (status == ST_OK) {
        status = open_listeners(&service, &sandbox, fd, https, err);
    }
    if (status == ST_OK) {
        announce(&service);
        status = await_gpu(&service, err);
        if (status == ST_OK) {
            activation_notify(service.notify, "READY=1");
            atomic_store(&service.asked_ns, clock_ns());
            while (idle_wait(&service, signals) == SIGHUP) {
                reload(&service, https, command);
            }
        }
        drain(&service, https[0], signals);
    }
    http_stop(https[0]);
    http_stop(https[1]);
    service_finish(&service);
    close(fd[0]); /* where the start failed */
    close(fd[1]);
    close(signals);
    return status == ST_OK ? EX_OK : status == ST_DEVICE ? EX_UNAVAILABLE : EX_CONFIG;
}

/* The engine process is this program with one more argument in front (gpu/gpu.h). `open`: the one that enters
 * no sandbox. */
static bool take_engine_argument(int *argc, char **argv, bool *open) {
    *open = *argc >= 2 && strcmp(argv[1], GPU_OPEN_ENGINE_ARGUMENT) == 0;
    if (*argc < 2 || (!*open && strcmp(argv[1], GPU_ENGINE_ARGUMENT) != 0)) {
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
    bool open, engine = take_engine_argument(&argc, argv, &open);
    if (!engine && job_is_asked(argc, argv, job_command_is_job)) {
        return job_command_main(argc, argv, environ);
    }
    if (config_load(&config, &action, argc, argv, environ, &err) != ST_OK) {
        return actions_complain(&err, EX_CONFIG);
    }
    if (action != CONFIG_RUN) {
        return actions_answer(action, &config, argc, argv);
    }
    log_init((enum log_level)(config.log_level - CHOICE_log_level_error),
             config.log_format == CHOICE_log_format_json ? LOG_JSON : LOG_TEXT);
    sandbox_hide(&config);
    if (engine) {
        set_heap(cores_usable());
        struct service service = {.config = &config, .gpu_concurrency = effective_gpu_concurrency(&config)};
        struct gpu_options options = gpu_options(&service);
        options.sandbox = options.sandbox && !open;
        gpu_engine_main(&options);
    }
    int code = serve(&(struct command){argc, argv}, &config, &err);
    if (code != EX_OK) {
        log_message(LOG_ERROR, "start", "%s", err.text);
    }
    return code;
}
