/* SPDX-License-Identifier: MIT */
#include "gpu/engine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "gpu/lane.h"
#include "gpu/mapping.h"

struct engine {
    struct cuda cuda;
    struct mappings *mappings;
    unsigned count;
    struct gpu_device device[WIRE_DEVICES_MAX];
    _Atomic unsigned load[WIRE_DEVICES_MAX]; /* runs on the device now */
    _Atomic bool fault;                      /* the next run shall fault */
};

struct engine_lane {
    struct engine *engine;
    struct gpu_lane lane[WIRE_DEVICES_MAX];
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
    ready->device_count = engine->count;
    engine->mappings = mappings_create(&engine->cuda);
    return engine->count > 0 && engine->mappings ? ST_OK : ST_DEVICE;
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
        gpu_device_close(&engine->device[i]);
    }
    free(engine);
}

void engine_arm_fault(struct engine *engine) {
    atomic_store(&engine->fault, true);
}

enum status engine_lane_create(struct engine_lane **lane, struct engine *engine, struct error *err) {
    struct engine_lane *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->engine = engine;
    enum status status = ST_OK;
    for (unsigned i = 0; i < engine->count && status == ST_OK; i++) {
        status = gpu_device_enter(&engine->device[i], err);
        status = status == ST_OK ? gpu_lane_init(&made->lane[i], &engine->device[i], err) : status;
    }
    if (status != ST_OK) {
        engine_lane_destroy(made);
        return status;
    }
    *lane = made;
    return ST_OK;
}

void engine_lane_destroy(struct engine_lane *lane) {
    if (!lane) {
        return;
    }
    struct error ignored;
    for (unsigned i = 0; i < lane->engine->count; i++) {
        if (lane->lane[i].device && gpu_device_enter(lane->lane[i].device, &ignored) == ST_OK) {
            gpu_lane_finish(&lane->lane[i]);
        }
    }
    free(lane);
}

/* The device with the least to do. Two threads may choose the same one at once; that
 * costs a little time and is right all the same. */
static unsigned choose(struct engine *engine) {
    unsigned best = 0;
    for (unsigned i = 1; i < engine->count; i++) {
        if (atomic_load(&engine->load[i]) < atomic_load(&engine->load[best])) {
            best = i;
        }
    }
    atomic_fetch_add(&engine->load[best], 1);
    return best;
}

/* The pictures of a run, laid out. */
struct pictures {
    struct image source, target, mask;
};

/* A piece of the slot. */
struct piece {
    uint64_t at, size;
};

static bool in_slot(struct piece piece, const struct wire_run *run) {
    return piece.size > 0 && piece.at <= run->slot_reserved && piece.size <= run->slot_reserved - piece.at &&
           piece.at % IMAGE_ALIGNMENT == 0;
}

/* Of two that lie in the slot. */
static bool apart(struct piece a, struct piece b) {
    return a.at + a.size <= b.at || b.at + b.size <= a.at;
}

static enum status check_pieces(const struct wire_run *run, struct pictures *pictures, struct error *err) {
    struct image_shape result = chain_result(&run->chain, &run->shape);
    struct image_shape coverage = {
        .model = PIXEL_GRAY, .depth = 8, .width = run->shape.width, .height = run->shape.height};
    struct piece source = {run->source, image_layout(&pictures->source, &run->shape)};
    struct piece target = {run->target, image_layout(&pictures->target, &result)};
    struct piece mask = {run->mask, image_layout(&pictures->mask, &coverage)};
    if (!in_slot(source, run) || !in_slot(target, run) || !apart(source, target)) {
        return fail(err, ST_INTERNAL, "the pictures do not lie in the slot");
    }
    if (run->mask != WIRE_NO_MASK && (!in_slot(mask, run) || !apart(mask, source) || !apart(mask, target))) {
        return fail(err, ST_INTERNAL, "the mask does not lie in the slot");
    }
    return ST_OK;
}

/* Everything that the front says about memory and shape, before any of it is used. */
static enum status check(const struct wire_run *run, struct pictures *pictures, struct error *err) {
    const struct image_shape *shape = &run->shape;
    if (shape->model > PIXEL_YCBCR || (shape->depth != 8 && shape->depth != 16) || shape->width == 0 ||
        shape->height == 0 || shape->chroma_shift_x > 2 || shape->chroma_shift_y > 2 ||
        (shape->model == PIXEL_YCBCR && shape->depth != 8)) {
        return fail(err, ST_INTERNAL, "the picture's shape is out of bounds");
    }
    enum status status = chain_check(&run->chain, shape, err);
    return status == ST_OK ? check_pieces(run, pictures, err) : status;
}

static void fault(struct gpu_lane *lane) {
    struct error ignored;
    CUDA_TRY(lane->device->cuda, &ignored, cuLaunchKernel, lane->device->program.kernel[KERNEL_fault], 1, 1,
             1, 1, 1, 1, 0, lane->stream, NULL, NULL);
}

/* What is wanted, in the slot at `memory`. */
static struct run place(struct pictures *pictures, const struct wire_run *run, uint8_t *memory) {
    bool masked = run->mask != WIRE_NO_MASK;
    image_place(&pictures->source, memory + run->source);
    image_place(&pictures->target, memory + run->target);
    if (masked) {
        image_place(&pictures->mask, memory + run->mask);
    }
    return (struct run){.chain = &run->chain,
                        .source = &pictures->source,
                        .target = &pictures->target,
                        .mask = masked ? &pictures->mask : NULL};
}

static enum status run_on(struct engine_lane *lane, unsigned device, const struct wire_run *run, int fd,
                          struct wire_done *done) {
    struct error *err = &done->error;
    struct gpu_lane *own = &lane->lane[device];
    struct pictures pictures;
    uint8_t *memory;
    enum status status = check(run, &pictures, err);
    status = status == ST_OK ? gpu_device_enter(own->device, err) : status;
    if (status == ST_OK) {
        status = mappings_get(lane->engine->mappings, run->slot_serial, run->slot_generation,
                              run->slot_reserved, fd, &memory, err);
    }
    if (status != ST_OK) {
        return status;
    }
    if (atomic_exchange(&lane->engine->fault, false)) {
        fault(own);
    }
    const struct run wanted = place(&pictures, run, memory);
    return gpu_lane_run(own, &wanted, &done->timing, err);
}

bool engine_run(struct engine_lane *lane, const struct wire_run *run, int fd, struct wire_done *done) {
    *done = (struct wire_done){0};
    unsigned device = choose(lane->engine);
    enum status status = run_on(lane, device, run, fd, done);
    done->error.status = status;
    done->timing.unit = lane->engine->device[device].index;
    atomic_fetch_sub(&lane->engine->load[device], 1);
    close(fd);
    /* After any other failure than for want of memory the device's state is in doubt. */
    return status != ST_DEVICE;
}
