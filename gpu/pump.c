/* SPDX-License-Identifier: MIT */
#include "gpu/pump.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { ACTIVE_MAX = 256, LOOK_NS = 20000, SLACK_NS = 1000, FEW = 3 }; /* see rest */

enum stage { DECODING, BEFORE_ENCODER, ENCODING, FETCHING, OVER };

/* A picture on its way. It belongs to the pump's thread, but BEFORE_ENCODER. */
struct ticket {
    struct ticket *next;
    struct gpu_lane *lane;
    const struct gpu_transcode *job;
    _Atomic int stage;
    size_t size;
    struct error err;
    sem_t over;
};

/* First in, first out. */
struct queue {
    struct ticket *first, **last;
};

struct gpu_pump {
    const struct gpu_device *device;
    unsigned decoding; /* pictures in the decoders at most */
    pthread_t thread, encoder[GPU_PUMP_ENCODERS_MAX];
    unsigned encoders; /* threads started */
    bool started;
    /* of the pump's thread alone */
    struct ticket *active[ACTIVE_MAX];
    unsigned count, in_decoders;
    /* of all */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t arrival;
    struct queue arrived, decoded;
    bool closing;
    sem_t work; /* counts `decoded` */
};

static void push(struct queue *queue, struct ticket *ticket) {
    ticket->next = NULL;
    *queue->last = ticket;
    queue->last = &ticket->next;
}

static struct ticket *pop(struct queue *queue) {
    struct ticket *ticket = queue->first;
    if (ticket) {
        queue->first = ticket->next;
        queue->last = queue->first ? queue->last : &queue->first;
    }
    return ticket;
}

static void take(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

/* ---- the pump's thread ---- */

static void begin(struct gpu_pump *pump, struct ticket *ticket) {
    bool good = gpu_lane_decode(ticket->lane, ticket->job, &ticket->err) == ST_OK;
    pump->in_decoders += good;
    atomic_store(&ticket->stage, good ? DECODING : OVER);
    pump->active[pump->count++] = ticket;
}

/* Hands what has arrived to the decoders, as far as there is room; waits for an arrival when nothing is
 * active. Whether something began. */
static bool admit(struct gpu_pump *pump) {
    bool any = false;
    pthread_mutex_lock(&pump->lock);
    while (pump->count == 0 && !pump->arrived.first && !pump->closing) {
        pthread_cond_wait(&pump->arrival, &pump->lock);
    }
    while (pump->in_decoders < pump->decoding && pump->count < ACTIVE_MAX && pump->arrived.first) {
        struct ticket *ticket = pop(&pump->arrived);
        pthread_mutex_unlock(&pump->lock);
        begin(pump, ticket);
        any = true;
        pthread_mutex_lock(&pump->lock);
    }
    pthread_mutex_unlock(&pump->lock);
    return any;
}

static void pass_to_encoder(struct gpu_pump *pump, struct ticket *ticket) {
    pump->in_decoders--;
    atomic_store(&ticket->stage, BEFORE_ENCODER);
    pthread_mutex_lock(&pump->lock);
    push(&pump->decoded, ticket);
    pthread_mutex_unlock(&pump->lock);
    sem_post(&pump->work);
}

static void fetch(struct ticket *ticket) {
    bool good = gpu_lane_fetch(ticket->lane, ticket->job, &ticket->size, &ticket->err) == ST_OK;
    atomic_store(&ticket->stage, good ? FETCHING : OVER);
}

/* Takes the ticket a stage further, if it can. */
static bool advance(struct gpu_pump *pump, struct ticket *ticket) {
    int stage = atomic_load(&ticket->stage);
    if (stage == BEFORE_ENCODER || (stage != OVER && !gpu_lane_reached(ticket->lane))) {
        return false;
    }
    switch (stage) {
    case DECODING:
        pass_to_encoder(pump, ticket);
        break;
    case ENCODING:
        fetch(ticket);
        break;
    default:
        atomic_store(&ticket->stage, OVER);
    }
    return true;
}

static bool advance_all(struct gpu_pump *pump) {
    bool any = false;
    for (unsigned i = 0; i < pump->count;) {
        struct ticket *ticket = pump->active[i];
        any = advance(pump, ticket) || any;
        if (atomic_load(&ticket->stage) == OVER) {
            pump->active[i] = pump->active[--pump->count];
            sem_post(&ticket->over); /* and it may be gone */
        } else {
            i++;
        }
    }
    return any;
}

/* Nothing has moved. With few pictures under way a nap is cheaper than the wait is long; with many the next
 * one is due at once. */
static void rest(const struct gpu_pump *pump) {
    if (pump->count <= FEW) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    } else {
        sched_yield();
    }
}

static void *pump_main(void *argument) {
    struct gpu_pump *pump = argument;
    struct error ignored;
    prctl(PR_SET_NAME, "blurd-pump");
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    gpu_device_enter(pump->device, &ignored); /* a failure shows at the first decode */
    for (;;) {
        bool moved = admit(pump);
        if (pump->count == 0 && !moved) {
            return NULL; /* closing */
        }
        if (!advance_all(pump) && !moved) {
            rest(pump);
        }
    }
}

/* ---- the encoders' threads ---- */

static void *encoder_main(void *argument) {
    struct gpu_pump *pump = argument;
    struct error ignored;
    prctl(PR_SET_NAME, "blurd-encoder");
    gpu_device_enter(pump->device, &ignored);
    for (;;) {
        take(&pump->work);
        pthread_mutex_lock(&pump->lock);
        struct ticket *ticket = pop(&pump->decoded);
        pthread_mutex_unlock(&pump->lock);
        if (!ticket) {
            return NULL; /* closing */
        }
        bool good = gpu_lane_encode(ticket->lane, ticket->job, &ticket->err) == ST_OK;
        atomic_store(&ticket->stage, good ? ENCODING : OVER);
    }
}

/* ---- everybody's ---- */

static enum status start(struct gpu_pump *pump, unsigned encoders, struct error *err) {
    int error = pthread_create(&pump->thread, NULL, pump_main, pump);
    pump->started = error == 0;
    for (unsigned i = 0; i < encoders && !error; i++) {
        error = pthread_create(&pump->encoder[i], NULL, encoder_main, pump);
        pump->encoders += error == 0;
    }
    return error ? fail(err, ST_BUSY, "cannot start a thread: %s", strerror(error)) : ST_OK;
}

enum status gpu_pump_create(struct gpu_pump **pump, const struct gpu_device *device, unsigned decoding,
                            unsigned encoders, struct error *err) {
    struct gpu_pump *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    made->decoding = decoding;
    made->arrived.last = &made->arrived.first;
    made->decoded.last = &made->decoded.first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->arrival, NULL);
    sem_init(&made->work, 0, 0);
    enum status status =
        start(made, encoders < GPU_PUMP_ENCODERS_MAX ? encoders : GPU_PUMP_ENCODERS_MAX, err);
    if (status != ST_OK) {
        gpu_pump_destroy(made);
        return status;
    }
    *pump = made;
    return ST_OK;
}

void gpu_pump_destroy(struct gpu_pump *pump) {
    if (!pump) {
        return;
    }
    pthread_mutex_lock(&pump->lock);
    pump->closing = true;
    pthread_cond_signal(&pump->arrival);
    pthread_mutex_unlock(&pump->lock);
    for (unsigned i = 0; i < pump->encoders; i++) {
        sem_post(&pump->work);
    }
    for (unsigned i = 0; i < pump->encoders; i++) {
        pthread_join(pump->encoder[i], NULL);
    }
    if (pump->started) {
        pthread_join(pump->thread, NULL);
    }
    pthread_mutex_destroy(&pump->lock);
    pthread_cond_destroy(&pump->arrival);
    sem_destroy(&pump->work);
    free(pump);
}

enum status gpu_pump_run(struct gpu_pump *pump, struct gpu_lane *lane, const struct gpu_transcode *job,
                         size_t *size, struct lane_timing *timing, struct error *err) {
    struct ticket ticket = {.lane = lane, .job = job};
    enum status status = gpu_lane_parse(lane, job, err);
    if (status != ST_OK) {
        return status;
    }
    sem_init(&ticket.over, 0, 0);
    pthread_mutex_lock(&pump->lock);
    push(&pump->arrived, &ticket);
    pthread_cond_signal(&pump->arrival);
    pthread_mutex_unlock(&pump->lock);
    take(&ticket.over);
    sem_destroy(&ticket.over);
    *size = ticket.size;
    if (ticket.err.status != ST_OK) {
        *err = ticket.err;
        return err->status;
    }
    return gpu_lane_timing(lane, timing, err);
}
