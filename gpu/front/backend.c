/* SPDX-License-Identifier: MIT
 * The backend of the front process. Each lane has a link to the current engine. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/tuned.h"
#include "gpu/engine/engine.h"
#include "gpu/front/shared_time.h"
#include "gpu/front/supervisor.h"
#include "gpu/gpu.h"

struct gpu_backend {
    struct backend base;
    struct supervisor *supervisor;
    struct link_timeout timeout;
    struct shared_time time;
    _Atomic uint64_t pictures; /* numbers that decoded pictures got */
};

struct gpu_front_lane {
    struct lane base;
    struct engine_link link;
};

static const struct backend_ops gpu_ops;

static struct gpu_backend *own_backend(struct backend *backend) {
    return (struct gpu_backend *)backend; /* `base` is first */
}

static enum status front_lane_create(struct backend *backend, struct lane **lane, struct error *err) {
    struct gpu_front_lane *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->base.backend = backend;
    made->link = LINK_NONE;
    *lane = &made->base;
    return ST_OK;
}

static void front_lane_destroy(struct lane *lane) {
    struct gpu_front_lane *own = (struct gpu_front_lane *)lane;
    link_close(&own->link);
    free(own);
}

static uint64_t offset_in(const struct slot *slot, const struct image *image) {
    return (uint64_t)(image->plane[0].data - slot->memory);
}

/* `kept`: bytes of the slot that another backend needs after a failure. */
static enum status ask(struct lane *lane, struct slot *slot, size_t kept, struct wire_run *message,
                       struct wire_done *done, struct error *err) {
    struct gpu_front_lane *own = (struct gpu_front_lane *)lane;
    struct gpu_backend *backend = own_backend(lane->backend);
    const int64_t begun = shared_time_begin(&backend->time);
    enum status status =
        supervisor_run(backend->supervisor, &own->link, message, slot, kept, &backend->timeout, done, err);
    const int64_t part = shared_time_end(&backend->time, begun);
    lane->device_ns += status == ST_OK || status == ST_UNSUPPORTED ? part : 0; /* a fault is not the run's */
    return status;
}

static enum status front_lane_run(struct lane *lane, const struct chain_run *run, struct lane_timing *timing,
                                  struct error *err) {
    struct slot *slot = run->slot;
    struct wire_done done;
    struct wire_run message = {
        .source = offset_in(slot, run->source),
        .target = offset_in(slot, run->target),
        .mask = run->mask ? offset_in(slot, run->mask) : WIRE_NO_MASK,
        .shape = image_shape(run->source),
        .chain = *run->chain,
    };
    enum status status = ask(lane, slot, slot->used, &message, &done, err);
    if (status != ST_OK) { /* another backend does the run */
        err->status = status == ST_UNSUPPORTED ? ST_UNSUPPORTED : ST_DEVICE;
        return err->status;
    }
    *timing = done.timing;
    return ST_OK;
}

static unsigned front_transcodes(struct backend *backend) {
    return supervisor_pictures(own_backend(backend)->supervisor);
}

/* The first search gets a new number for the picture that it decodes; later jobs hand it in. */
static uint64_t number_of(struct gpu_backend *backend, const struct transcode *job) {
    if (!job->picture) {
        return 0;
    }
    return *job->picture || !chain_searches(job->chain) ? *job->picture
                                                        : atomic_fetch_add(&backend->pictures, 1) + 1;
}

static enum status front_lane_transcode(struct lane *lane, const struct transcode *job, size_t *size,
                                        struct lane_timing *timing, struct error *err) {
    struct wire_done done;
    struct wire_run message = link_transcode(job, number_of(own_backend(lane->backend), job));
    bool half = job->pixels || job->form == TRANSCODE_PIXELS; /* its worker goes on with all of the slot */
    size_t kept = half ? job->slot->used : (size_t)(job->output - job->slot->memory);
    enum status status = ask(lane, job->slot, kept, &message, &done, err);
    if (status == ST_OK) {
        if (job->picture) {
            *job->picture = message.jpeg.picture;
        }
        *timing = done.timing;
        *size = done.size;
    }
    return status;
}

static enum backend_state front_state(struct backend *backend, bool await, char reason[BACKEND_REASON_MAX]) {
    return supervisor_state(own_backend(backend)->supervisor, await, reason);
}

static void front_close(struct backend *backend) {
    supervisor_destroy(own_backend(backend)->supervisor);
    shared_time_finish(&own_backend(backend)->time);
    free(backend);
}

static struct engine_options engine_options(const struct gpu_options *options) {
    static const char *const formats[] = {
        [MODULE_AUTO] = "auto", [MODULE_CUBIN] = "cubin", [MODULE_PTX] = "ptx", [MODULE_NVRTC] = "nvrtc"};
    struct engine_options engine = {
        .gpus = options->gpus,
        .library = options->library[0] ? options->library : NULL,
        .models = options->models,
        .program.cache_folder = options->cache_folder,
        .jpeg = options->jpeg,
        .pictures = options->pictures,
        .pictures_each = TUNED_GPU_PICTURES,
        .sandbox = options->sandbox,
        .sandbox_must = options->sandbox_must,
    };
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(options->format, formats[i]) == 0) {
            engine.program.format = (enum module_format)i;
        }
    }
    return engine;
}

enum status gpu_backend_open(const struct gpu_options *options, struct backend **backend, struct error *err) {
    struct gpu_backend *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->base.ops = &gpu_ops;
    snprintf(made->base.name, sizeof made->base.name, "cuda");
    made->timeout.least_ms = options->timeout_ms;
    made->timeout.most_ms = options->work_timeout_ms / 2; /* the CPU has the other half */
    shared_time_init(&made->time);
    struct engine_options engine = engine_options(options);
    enum status status = supervisor_create(&made->supervisor, options, &engine, err);
    if (status != ST_OK) {
        shared_time_finish(&made->time);
        free(made);
        return status;
    }
    *backend = &made->base;
    return ST_OK;
}

static const struct backend_ops gpu_ops = {
    .lane_create = front_lane_create,
    .lane_run = front_lane_run,
    .transcodes = front_transcodes,
    .lane_transcode = front_lane_transcode,
    .lane_destroy = front_lane_destroy,
    .close = front_close,
    .state = front_state,
};

void gpu_engine_main(const struct gpu_options *options) {
    struct engine_options engine = engine_options(options);
    engine_process(&engine);
}
