/* SPDX-License-Identifier: MIT */
#include "gpu/engine/entropy_decoder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/clock.h"
#include "core/tuned.h"

enum { SLACK_NS = 1000 /* as of the submitter */ };

/* A kernel that reads several files. Nothing is enqueued behind it: a connection of the device carries
 * several streams, and what waits for the kernel would hold up the others. */
struct launch {
    struct gpu_stream stream; /* only its device and its handle; handle NULL: not opened */
    struct hang_detector_watch watch;
    struct entropy_decode *reading[PROGRESSIVE_PICTURES];
    unsigned count; /* 0: none is in progress */
};

struct entropy_decoder {
    struct gpu_device *device;
    pthread_t thread;
    bool started;
    /* for the reader's thread only */
    struct launch launch[TUNED_GPU_ENTROPY_DECODE_LAUNCHES];
    unsigned busy;        /* launches in progress */
    int64_t launched;     /* clock_ns of the last launch */
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t arrival;
    struct entropy_decode *arrived, **last; /* oldest first */
    bool closing;
    struct entropy_decode *idle; /* the one used last first, so that few take memory */
    sem_t any;                   /* counts `idle` */
    _Atomic bool failed;         /* kernels may be running for ever: no reading is used again */
    unsigned count;
    struct entropy_decode reading[];
};

/* ---- the reader's thread ---- */

static void fail_all(struct entropy_decoder *reader, struct launch *launch, const struct error *err) {
    atomic_store(&reader->failed, reader->failed || err->status == ST_DEVICE);
    for (unsigned i = 0; i < launch->count; i++) {
        launch->reading[i]->err = *err;
        sem_post(&launch->reading[i]->over);
    }
    launch->count = 0;
    reader->busy--;
}

static void take_arrived(struct entropy_decoder *reader, struct launch *launch) {
    pthread_mutex_lock(&reader->lock);
    while (launch->count < PROGRESSIVE_PICTURES && reader->arrived) {
        struct entropy_decode *reading = reader->arrived;
        reader->arrived = reading->next;
        reader->last = reader->arrived ? reader->last : &reader->arrived;
        launch->reading[launch->count++] = reading;
    }
    pthread_mutex_unlock(&reader->lock);
}

/* Keeps the files for which there is memory. */
static void reserve_all(struct entropy_decoder *reader, struct launch *launch, const struct error *err) {
    unsigned count = err->status == ST_OK ? launch->count : 0;
    launch->count -= count;
    for (unsigned i = 0; i < count; i++) {
        struct entropy_decode *reading = launch->reading[i];
        if (entropy_decode_reserve(reading, reader->device, launch->stream.handle) == ST_OK) {
            launch->reading[launch->count++] = reading;
        } else {
            sem_post(&reading->over);
        }
    }
}

static enum status open_launch(struct entropy_decoder *reader, struct launch *launch, struct error *err) {
    launch->stream.device = reader->device;
    return launch->stream.handle ? ST_OK
                                 : CUDA_TRY(reader->device->cuda, err, cuStreamCreate, &launch->stream.handle,
                                            CU_STREAM_NON_BLOCKING);
}

/* What the device has to do: a picture takes as long as the file's largest part that one warp reads. */
static struct hang_detector_work work_of(const struct launch *launch) {
    enum { KIND_SCANS = HANG_KINDS - 2 /* the last kind is that of JPEGs */ };
    struct hang_detector_work work = {.kinds = UINT32_C(1) << KIND_SCANS, .steps = 1, .alone = true};
    for (unsigned i = 0; i < launch->count; i++) {
        double bytes = (double)launch->reading[i]->source.longest;
        work.bytes = bytes > work.bytes ? bytes : work.bytes;
    }
    return work;
}

static enum status enqueue(struct launch *launch, struct error *err) {
    struct progressive_picture pictures[PROGRESSIVE_PICTURES];
    for (unsigned i = 0; i < launch->count; i++) {
        pictures[i] = entropy_decode_picture(launch->reading[i]);
    }
    return progressive_begin(&launch->stream, pictures, launch->count, err);
}

static void begin(struct entropy_decoder *reader, struct launch *launch) {
    struct hang_detector *detector = &reader->device->detector;
    struct error err = {0};
    reader->busy++;
    reader->launched = clock_ns();
    take_arrived(reader, launch);
    err.status = open_launch(reader, launch, &err);
    reserve_all(reader, launch, &err);
    if (launch->count == 0 || err.status != ST_OK) {
        fail_all(reader, launch, &err);
        return;
    }
    const struct hang_detector_work work = work_of(launch);
    hang_detector_begin(detector, &launch->watch, &work, clock_ns());
    err.status = enqueue(launch, &err);
    hang_detector_handed(detector, &launch->watch, clock_ns());
    if (err.status != ST_OK) {
        fail_all(reader, launch, &err);
        hang_detector_end(detector, &launch->watch);
    }
}

static struct launch *idle_launch(struct entropy_decoder *reader) {
    unsigned i = 0;
    while (i < TUNED_GPU_ENTROPY_DECODE_LAUNCHES && reader->launch[i].count > 0) {
        i++;
    }
    return i < TUNED_GPU_ENTROPY_DECODE_LAUNCHES ? &reader->launch[i] : NULL;
}

/* Waits for a file while none is read. False when the reader closes. */
static bool await(struct entropy_decoder *reader, bool idle, bool *any) {
    pthread_mutex_lock(&reader->lock);
    while (idle && !reader->arrived && !reader->closing) {
        pthread_cond_wait(&reader->arrival, &reader->lock);
    }
    *any = reader->arrived != NULL;
    bool open = *any || !idle || !reader->closing;
    pthread_mutex_unlock(&reader->lock);
    return open;
}

static void check_launch(struct entropy_decoder *reader, struct launch *launch) {
    struct hang_detector *detector = &reader->device->detector;
    struct error err = {0};
    for (unsigned i = 0; i < launch->count;) {
        struct entropy_decode *reading = launch->reading[i];
        if (entropy_decode_verdict(reading) == PROGRESSIVE_PENDING) {
            i++;
        } else {
            launch->reading[i] = launch->reading[--launch->count];
            sem_post(&reading->over); /* its owner may use it again now */
        }
    }
    if (launch->count == 0) {
        reader->busy--;
        hang_detector_complete(detector, &launch->watch);
        hang_detector_end(detector, &launch->watch);
    } else if (gpu_stream_check(&launch->stream, &launch->watch, &err) != ST_OK) {
        fail_all(reader, launch, &err);
        hang_detector_end(detector, &launch->watch);
    }
}

static void *reader_main(void *argument) {
    struct entropy_decoder *reader = argument;
    struct error ignored;
    bool any;
    prctl(PR_SET_NAME, "blurd-scans");
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    gpu_device_enter(reader->device, &ignored); /* the first file reports a failure */
    while (await(reader, reader->busy == 0, &any)) {
        struct launch *launch = any ? idle_launch(reader) : NULL;
        if (launch && clock_ns() - reader->launched >= TUNED_GPU_ENTROPY_DECODE_PACE_NS) {
            begin(reader, launch);
        }
        for (unsigned i = 0; i < TUNED_GPU_ENTROPY_DECODE_LAUNCHES; i++) {
            if (reader->launch[i].count > 0) {
                check_launch(reader, &reader->launch[i]);
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = TUNED_GPU_ENTROPY_DECODE_LOOK_NS}, NULL);
    }
    return NULL;
}

/* ---- any thread ---- */

static void give_back(struct entropy_decoder *reader, struct entropy_decode *reading) {
    pthread_mutex_lock(&reader->lock);
    reading->next = reader->idle;
    reader->idle = reading;
    pthread_mutex_unlock(&reader->lock);
    sem_post(&reader->any);
}

enum status entropy_decoder_create(struct entropy_decoder **reader, struct gpu_device *device,
                                   unsigned readings, struct error *err) {
    struct entropy_decoder *made = calloc(1, sizeof *made + readings * sizeof made->reading[0]);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    made->last = &made->arrived;
    made->count = readings;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->arrival, NULL);
    sem_init(&made->any, 0, 0);
    for (unsigned i = 0; i < readings; i++) {
        sem_init(&made->reading[i].over, 0, 0);
        give_back(made, &made->reading[i]);
    }
    int error = pthread_create(&made->thread, NULL, reader_main, made);
    made->started = error == 0;
    if (error) {
        entropy_decoder_destroy(made);
        return fail(err, ST_BUSY, "cannot start a thread: %s", strerror(error));
    }
    *reader = made;
    return ST_OK;
}

void entropy_decoder_destroy(struct entropy_decoder *reader) {
    if (!reader) {
        return;
    }
    pthread_mutex_lock(&reader->lock);
    reader->closing = true;
    pthread_cond_signal(&reader->arrival);
    pthread_mutex_unlock(&reader->lock);
    if (reader->started) {
        pthread_join(reader->thread, NULL);
    }
    for (unsigned i = 0; i < TUNED_GPU_ENTROPY_DECODE_LAUNCHES; i++) {
        if (reader->launch[i].stream.handle) {
            reader->device->cuda->cuStreamDestroy(reader->launch[i].stream.handle);
        }
    }
    for (unsigned i = 0; i < reader->count; i++) {
        entropy_decode_finish(&reader->reading[i], reader->device);
        sem_destroy(&reader->reading[i].over);
    }
    pthread_mutex_destroy(&reader->lock);
    pthread_cond_destroy(&reader->arrival);
    sem_destroy(&reader->any);
    free(reader);
}

static struct entropy_decode *take(struct entropy_decoder *reader) {
    while (sem_wait(&reader->any) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&reader->lock);
    struct entropy_decode *reading = reader->idle;
    reader->idle = reading->next;
    pthread_mutex_unlock(&reader->lock);
    return reading;
}

/* Hands it to the reader's thread and waits until it is over. */
static enum status submit(struct entropy_decoder *reader, struct entropy_decode *reading, struct error *err) {
    pthread_mutex_lock(&reader->lock);
    reading->next = NULL;
    *reader->last = reading;
    reader->last = &reading->next;
    pthread_cond_signal(&reader->arrival);
    pthread_mutex_unlock(&reader->lock);
    while (sem_wait(&reading->over) != 0 && errno == EINTR) {
    }
    if (reading->err.status != ST_OK) {
        *err = reading->err;
        return err->status;
    }
    return entropy_decode_verdict(reading) == PROGRESSIVE_INTACT
               ? ST_OK
               : fail(err, ST_UNSUPPORTED, "the JPEG's scans are damaged or unusual");
}

enum status entropy_decoder_run(struct entropy_decoder *reader, struct bytes file,
                                const struct image_shape *shape, struct entropy_decode **reading,
                                struct error *err) {
    struct entropy_decode *taken = take(reader);
    bool failed = atomic_load(&reader->failed);
    enum status status = failed ? fail(err, ST_DEVICE, "the GPU has failed before") : ST_OK;
    status = status == ST_OK ? entropy_decode_parse(taken, reader->device, file, shape, err) : status;
    status = status == ST_OK ? submit(reader, taken, err) : status;
    if (status != ST_OK) {
        atomic_store(&reader->failed, reader->failed || status == ST_DEVICE);
        entropy_decoder_give_back(reader, taken);
        return status;
    }
    *reading = taken;
    return ST_OK;
}

void entropy_decoder_give_back(struct entropy_decoder *reader, struct entropy_decode *reading) {
    struct gpu_device *device = reader->device;
    bool full = atomic_load(&device->memory_kept) > device->memory_share / 2;
    if (full && !atomic_load(&reader->failed)) {
        gpu_buffer_finish(&reading->memory, device);
    }
    give_back(reader, reading);
}
