/* SPDX-License-Identifier: MIT */
#include "gpu/engine/engine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "gpu/detect/detect.h"
#include "gpu/engine/engine_check.h"
#include "gpu/engine/jpeg_stream.h"
#include "gpu/engine/mapping.h"
#include "gpu/engine/transcoder.h"
#include "gpu/filters/gpu_chain.h"

struct engine {
    struct cuda cuda;
    struct mappings *mappings;
    unsigned count;
    struct gpu_device device[WIRE_DEVICES_MAX];
    _Atomic unsigned load[WIRE_DEVICES_MAX];             /* runs in progress on the device */
    struct gpu_transcoder *transcoder[WIRE_DEVICES_MAX]; /* NULL: none */
    struct model model[DETECTORS];                       /* path "": none */
    _Atomic bool fault;                                  /* make the next run fault */
};

struct engine_session {
    struct engine *engine;
    struct gpu_stream stream[WIRE_DEVICES_MAX]; /* for pixels, each opened at its first run */
    uint64_t picture;        /* of the last run: the device may keep it (struct wire_transcode) */
    unsigned picture_device; /* which device that is */
};

/* Whether `gpus` ("all", "0,2") names the number. */
static bool wanted(const char *gpus, int number) {
    if (strcmp(gpus, "all") == 0) {
        return true;
    }
    for (const char *p = gpus; *p; p += strcspn(p, ","), p += *p == ',') {
        char *end;
        if (strtol(p, &end, 10) == number && end > p && (*end == ',' || *end == '\0')) {
            return true;
        }
    }
    return false;
}

static void open_device(struct engine *engine, int number, const struct engine_options *options,
                        struct wire_ready *ready, struct error *err) {
    struct gpu_device *device = &engine->device[engine->count];
    int64_t start = clock_ns();
    if (gpu_device_open(device, &engine->cuda, number, &options->program, err) != ST_OK) {
        log_message(LOG_WARNING, "gpu", "cuda:%d: %s", number, err->text);
        return;
    }
    struct wire_device *facts = &ready->device[engine->count++];
    snprintf(facts->name, sizeof facts->name, "%s", device->name);
    snprintf(facts->how, sizeof facts->how, "%s", device->program.how);
    facts->compile_ns = device->program.compile_ns;
    facts->load_ns = device->program.load_ns;
    facts->context_ns = clock_ns() - start - facts->compile_ns - facts->load_ns;
}

/* Without a transcoder, other GPUs or the CPU do the JPEGs. */
static unsigned open_transcoder(struct engine *engine, unsigned device,
                                const struct engine_options *options) {
    struct error err = {0};
    unsigned each =
        options->pictures ? (options->pictures + engine->count - 1) / engine->count : options->pictures_each;
    if (gpu_transcoder_create(&engine->transcoder[device], &engine->device[device], each, &err) == ST_OK) {
        return gpu_transcoder_pictures(engine->transcoder[device]);
    }
    log_message(LOG_WARNING, "gpu", "cuda:%d: no JPEGs: %s", engine->device[device].index, err.text);
    return 0;
}

/* Opened before the sandbox closes. Without a model, the CPU searches. */
static void open_model(struct engine *engine, enum detector_id id, const char *path) {
    struct error err = {0};
    struct model *model = &engine->model[id];
    enum status status = path[0] ? model_open(model, detector_get(id), path, &err) : ST_UNSUPPORTED;
    for (unsigned i = 0; i < engine->count && status == ST_OK; i++) {
        status = gpu_detect_open(&engine->device[i], id, model, &err);
    }
    if (err.text[0]) {
        log_message(LOG_WARNING, "gpu", "no search for %s: %s", detector_get(id)->name, err.text);
    }
}

static enum status open_devices(struct engine *engine, const struct engine_options *options,
                                struct wire_ready *ready, struct error *err) {
    int64_t start = clock_ns();
    enum status status = cuda_open(&engine->cuda, options->library, err);
    ready->driver_ns = clock_ns() - start;
    int found = 0;
    if (status == ST_OK) {
        status = CUDA_TRY(&engine->cuda, err, cuDeviceGetCount, &found);
    }
    if (status != ST_OK) {
        return status;
    }
    fail(err, ST_DEVICE, "none of the %d GPUs is wanted (--gpus %s)", found, options->gpus);
    for (int i = 0; i < found && engine->count < WIRE_DEVICES_MAX; i++) {
        if (wanted(options->gpus, i)) {
            open_device(engine, i, options, ready, err);
        }
    }
    for (unsigned i = 0; i < engine->count && options->jpeg; i++) {
        ready->pictures += open_transcoder(engine, i, options);
    }
    for (unsigned i = 0; i < DETECTORS; i++) {
        open_model(engine, i, options->models.of[i]);
    }
    ready->device_count = engine->count;
    engine->mappings = mappings_create(&engine->cuda);
    if (engine->count > 0 && engine->mappings) {
        return ST_OK;
    }
    return err->status == ST_BUSY ? ST_BUSY : ST_DEVICE; /* a GPU without memory may have some later */
}

enum status engine_open(struct engine **engine, const struct engine_options *options,
                        struct wire_ready *ready, struct error *err) {
    struct engine *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return fail(err, ST_BUSY, "out of memory");
    }
    *ready = (struct wire_ready){0};
    enum status status = open_devices(opened, options, ready, err);
    if (status != ST_OK) {
        engine_close(opened);
        return status;
    }
    *engine = opened;
    return ST_OK;
}

void engine_close(struct engine *engine) {
    if (!engine) {
        return;
    }
    mappings_destroy(engine->mappings);
    for (unsigned i = 0; i < engine->count; i++) {
        struct error ignored;
        if (gpu_device_enter(&engine->device[i], &ignored) == ST_OK) {
            gpu_transcoder_destroy(engine->transcoder[i]);
            gpu_detect_close(&engine->device[i]);
        }
        gpu_device_close(&engine->device[i]);
    }
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (engine->model[i].path[0]) {
            model_close(&engine->model[i]);
        }
    }
    free(engine);
}

/* Slots are registered in the context of the last GPU, for all of them. */
void engine_attend(struct engine *engine) {
    struct error err;
    for (unsigned i = 0; i < engine->count; i++) {
        if (gpu_device_enter(&engine->device[i], &err) == ST_OK && engine->transcoder[i]) {
            gpu_transcoder_warm(engine->transcoder[i]);
        }
    }
    mappings_attend(engine->mappings);
}

void engine_leave(struct engine *engine) {
    mappings_leave(engine->mappings);
}

bool engine_is_stuck(struct engine *engine, struct error *err) {
    int64_t quiet = 0;
    for (unsigned i = 0; i < engine->count && quiet == 0 && !mappings_are_busy(engine->mappings); i++) {
        quiet = hang_detector_stuck_ns(&engine->device[i].detector, clock_ns());
    }
    if (quiet > 0) {
        fail(err, ST_DEVICE, "the GPU has done nothing for %.0f ms, and its driver does not return",
             clock_ns_to_ms(quiet));
    }
    return quiet > 0;
}

void engine_arm_fault(struct engine *engine) {
    atomic_store(&engine->fault, true);
}

enum status engine_session_create(struct engine_session **session, struct engine *engine, struct error *err) {
    struct engine_session *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->engine = engine;
    *session = made;
    return ST_OK;
}

void engine_session_destroy(struct engine_session *session) {
    if (!session) {
        return;
    }
    struct error ignored;
    for (unsigned i = 0; i < session->engine->count; i++) {
        if (session->stream[i].device && gpu_device_enter(session->stream[i].device, &ignored) == ST_OK) {
            gpu_stream_finish(&session->stream[i]);
        }
    }
    free(session);
}

/* Returns the least loaded device; with `jpeg`, among those with codecs. Two threads may choose the same one,
 * which costs only time. */
static unsigned choose(struct engine *engine, bool jpeg) {
    unsigned best = 0;
    for (unsigned i = 1; i < engine->count; i++) {
        bool able = !jpeg || engine->transcoder[i];
        bool better = (jpeg && !engine->transcoder[best]) ||
                      atomic_load(&engine->load[i]) < atomic_load(&engine->load[best]);
        if (able && better) {
            best = i;
        }
    }
    return best;
}

/* The device that may keep the run's picture, else the least loaded one. */
static unsigned take_device(struct engine_session *session, const struct wire_run *run) {
    struct engine *engine = session->engine;
    bool kept = run->jpeg.picture != 0 && run->jpeg.picture == session->picture;
    unsigned device = kept ? session->picture_device : choose(engine, run->jpeg.size > 0);
    session->picture = run->jpeg.picture;
    session->picture_device = device;
    atomic_fetch_add(&engine->load[device], 1);
    return device;
}

static void fault(const struct gpu_device *device) {
    struct error ignored;
    CUDA_TRY(device->cuda, &ignored, cuLaunchKernel, device->program.kernel[KERNEL_fault], 1, 1, 1, 1, 1, 1,
             0, CU_STREAM_PER_THREAD, NULL, NULL);
}

static struct chain_run place(struct engine_pictures *pictures, const struct wire_run *run, uint8_t *memory) {
    bool masked = run->mask != WIRE_NO_MASK;
    image_place(&pictures->source, memory + run->source);
    image_place(&pictures->target, memory + run->target);
    if (masked) {
        image_place(&pictures->mask, memory + run->mask);
    }
    return (struct chain_run){.chain = &run->chain,
                              .source = &pictures->source,
                              .target = &pictures->target,
                              .mask = masked ? &pictures->mask : NULL};
}

static enum status run_pixels(struct engine_session *session, unsigned device, const struct wire_run *run,
                              struct engine_pictures *pictures, uint8_t *memory, struct wire_done *done) {
    const struct chain_run wanted = place(pictures, run, memory);
    struct gpu_stream *stream = &session->stream[device];
    enum status status =
        stream->device ? ST_OK : gpu_stream_init(stream, &session->engine->device[device], &done->error);
    if (status != ST_OK) {
        gpu_stream_finish(stream);
        return status;
    }
    status = gpu_chain_run(stream, &wanted, &done->timing, &done->error);
    if (gpu_stream_trim(stream, status)) {
        gpu_buffer_empty_pool(stream->device);
    }
    return status;
}

static enum status run_jpeg(struct engine_session *session, unsigned device, const struct wire_run *run,
                            uint8_t *memory, struct wire_done *done) {
    struct gpu_transcoder *transcoder = session->engine->transcoder[device];
    uint64_t picture = run->jpeg.picture;
    struct transcode_mask mask = {.plan = run->jpeg.plan};
    const struct transcode job = {.chain = &run->chain,
                                  .shape = run->shape,
                                  .orientation = run->jpeg.orientation,
                                  .input = {memory + run->source, run->jpeg.size},
                                  .output = memory + run->target,
                                  .room = run->jpeg.room,
                                  .quality = run->jpeg.quality,
                                  .optimal = run->jpeg.optimal,
                                  .patch = run->jpeg.patch,
                                  .form = (enum transcode_form)run->jpeg.form,
                                  .colours = (enum transcode_colours)run->jpeg.colours,
                                  .pixels = run->jpeg.pixels,
                                  .mask = run->jpeg.masked ? &mask : NULL,
                                  .picture = &picture};
    size_t size = 0;
    if (run->jpeg.masked && mask.plan.rects > 0) {
        mask.rects = (const struct mask_plan_rect *)(const void *)(memory + run->jpeg.rects);
    }
    if (run->jpeg.masked && mask.plan.weighs) {
        mask.weights = memory + run->mask;
    }
    enum status status = transcoder ? gpu_transcoder_run(transcoder, &job, &size, &done->timing, &done->error)
                                    : fail(&done->error, ST_UNSUPPORTED, "no GPU has codecs for JPEGs");
    done->size = status == ST_OK ? size : 0;
    return status;
}

static enum status run_on(struct engine_session *session, unsigned device, const struct wire_run *run, int fd,
                          struct wire_done *done) {
    struct error *err = &done->error;
    bool jpeg = run->jpeg.size > 0;
    struct engine_pictures pictures;
    struct mapping *mapping;
    uint8_t *memory;
    enum status status = jpeg ? engine_check_jpeg(run, err) : engine_check_pixels(run, &pictures, err);
    status = status == ST_OK ? gpu_device_enter(&session->engine->device[device], err) : status;
    if (status == ST_OK) {
        const struct slot_view view = {run->slot_serial, run->slot_generation, run->slot_span};
        bool later = !jpeg || gpu_transcoder_stages(run->jpeg.size, run->jpeg.room);
        status = mappings_get(session->engine->mappings, &view, later, fd, &mapping, &memory, err);
    }
    if (status != ST_OK) {
        return status;
    }
    if (atomic_exchange(&session->engine->fault, false)) {
        fault(&session->engine->device[device]);
    }
    status = jpeg ? run_jpeg(session, device, run, memory, done)
                  : run_pixels(session, device, run, &pictures, memory, done);
    mappings_put(session->engine->mappings, mapping);
    return status;
}

bool engine_run(struct engine_session *session, const struct wire_run *run, int fd, struct wire_done *done) {
    *done = (struct wire_done){0};
    unsigned device = take_device(session, run);
    enum status status = run_on(session, device, run, fd, done);
    done->error.status = status;
    done->timing.unit = session->engine->device[device].index;
    atomic_fetch_sub(&session->engine->load[device], 1);
    close(fd);
    /* After ST_DEVICE the state of the device is unknown. */
    return status != ST_DEVICE;
}
