/* SPDX-License-Identifier: MIT
 * State shared by all parts of the daemon. main creates it before the first thread; afterwards it is constant
 * but for the atomics and the settings. */
#ifndef BLURD_SERVER_SERVICE_H
#define BLURD_SERVER_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "config/config.h"
#include "core/slot.h"
#include "detect/detectors.h"
#include "filters/backend.h"
#include "server/evidence/model_digests.h"
#include "server/http/listen.h"
#include "server/metrics.h"
#include "server/planner/cost.h"
#include "server/queue/workers.h"
#include "server/settings.h"

struct service {
    const struct config *config;     /* as at the start; `settings` has what may change */
    struct settings_holder settings; /* current options and tokens */
    struct metrics *metrics;
    struct slot_pool *slots;
    struct gpu_spawner *spawner;  /* NULL: no GPU, or in this process */
    struct codec_spawner *codecs; /* NULL: no codec is isolated, or all run in this process */
    struct exporter *exporter;    /* of spans; NULL: none are sent */
    struct workers *workers;
    const char *http_library;       /* its name and version */
    _Atomic int64_t refusal_second; /* when refusals were last logged */
    _Atomic unsigned refusal_lines; /* how many lines they got in that second */
    struct cost_model cost;         /* learnt cost of requests */
    /* In order of preference; the last is the CPU, which always works. Backend i is
     * number i + 1 in the metrics. */
    struct backend *backend[WORKER_LANES];
    unsigned backend_count;
    struct backend *cpu;            /* the last of them */
    struct model *model[DETECTORS]; /* of each detector; NULL: none */
    struct model_digests model_digests;
    uint32_t detectors;         /* a bit for each that can be used */
    unsigned cores;             /* cores that may be used */
    bool gpu;                   /* GPUs are wanted, and there may be one */
    unsigned gpu_concurrency;   /* JPEGs that GPUs work on at a time, each with a worker */
    unsigned entropy_decodes;   /* progressive JPEGs that GPUs entropy-decode at a time, each with a worker */
    uint64_t memory;            /* for pictures, in bytes */
    int notify;                 /* socket of the service manager, -1: none */
    uint16_t port;              /* listened on */
    char name[LISTEN_NAME_MAX]; /* of the socket */
    char url[LISTEN_URL_MAX];   /* for browsers on this machine */
    bool public;                /* other machines may reach it */
    bool admin;                 /* there is a second listener */
    unsigned bind_warned;       /* what the last bind_warning found */
    _Atomic bool draining;      /* set once, by SIGTERM */
    _Atomic unsigned active;    /* open requests */
    _Atomic int64_t asked_ns;   /* clock_ns of the last request on the main port */
    int idle_event;             /* eventfd: written when the last connection ends while draining */
};

/* NULL: there is none. */
static inline struct backend *service_gpu(const struct service *service) {
    return service->backend_count > 1 ? service->backend[0] : NULL;
}

#endif
