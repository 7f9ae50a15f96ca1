/* SPDX-License-Identifier: MIT */
#include "gpu/engine/submitter.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { ACTIVE_MAX = 256, LOOK_NS = 20000, SLACK_NS = 1000, LOOKS = 250 }; /* see rest */

enum stage { RUNNING, FETCHING, OVER };

/* A picture on its way. Once it has arrived it belongs to the pump's thread until it is over. */
struct submission {
    struct submission *next;
    struct gpu_lane *lane;
    const struct gpu_transcode *job;
    enum stage stage;
    size_t size;
    struct error err;
    sem_t over;
};

/* First in, first out. */
struct queue {
    struct submission *first, **last;
};

struct submitter {
    const struct gpu_device *device;
    pthread_t thread;
    bool started;
    /* of the pump's thread alone */
    struct submission *active[ACTIVE_MAX];
    unsigned count;
    unsigned looks; /* since anything has moved */
    /* of all */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t arrival;
    struct queue arrived;
    bool closing;
};

static void push(struct queue *queue, struct submission *ticket) {
    ticket->next = NULL;
    *queue->last = ticket;
    queue->last = &ticket->next;
}

static struct submission *pop(struct queue *queue) {
    struct submission *ticket = queue->first;
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

static void begin(struct submitter *pump, struct submission *ticket) {
    bool good = gpu_lane_begin(ticket->lane, ticket->job, &ticket->err) == ST_OK;
    ticket->stage = good ? RUNNING : OVER;
    pump->active[pump->count++] = ticket;
}

/* Begins what has arrived; waits for an arrival when nothing is active. Whether something began. */
static bool admit(struct submitter *pump) {
    bool any = false;
    pthread_mutex_lock(&pump->lock);
    while (pump->count == 0 && !pump->arrived.first && !pump->closing) {
        pthread_cond_wait(&pump->arrival, &pump->lock);
    }
    while (pump->count < ACTIVE_MAX && pump->arrived.first) {
        struct submission *ticket = pop(&pump->arrived);
        pthread_mutex_unlock(&pump->lock);
        begin(pump, ticket);
        any = true;
        pthread_mutex_lock(&pump->lock);
    }
    pthread_mutex_unlock(&pump->lock);
    return any;
}

static enum stage end(struct submission *ticket) {
    bool good = gpu_lane_end(ticket->lane, ticket->job, &ticket->size, &ticket->err) == ST_OK;
    return good && !gpu_lane_reached(ticket->lane) ? FETCHING : OVER;
}

/* Takes the ticket a stage further, if it can; with `ask` the driver is asked whether it ever can. */
static bool advance(struct submission *ticket, bool ask) {
    if (ticket->stage != OVER && !gpu_lane_reached(ticket->lane)) {
        if (!ask || gpu_lane_query(ticket->lane, &ticket->err) == ST_OK) {
            return false;
        }
        ticket->stage = OVER;
        return true;
    }
    ticket->stage = ticket->stage == RUNNING ? end(ticket) : OVER;
    return true;
}

static bool advance_all(struct submitter *pump) {
    bool any = false, ask = pump->looks == LOOKS;
    for (unsigned i = 0; i < pump->count;) {
        struct submission *ticket = pump->active[i];
        any = advance(ticket, ask) || any;
        if (ticket->stage == OVER) {
            pump->active[i] = pump->active[--pump->count];
            sem_post(&ticket->over); /* and it may be gone */
        } else {
            i++;
        }
    }
    return any;
}

/* Nothing has moved. A nap is cheaper than the wait is long. After some of them, 5 ms or more, a device that
 * has failed is no longer unlikely: it would never move again. */
static void rest(struct submitter *pump) {
    pump->looks = pump->looks < LOOKS ? pump->looks + 1 : 0;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
}

static void *submitter_main(void *argument) {
    struct submitter *pump = argument;
    struct error ignored;
    prctl(PR_SET_NAME, "blurd-pump");
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    gpu_device_enter(pump->device, &ignored); /* a failure shows at the first picture */
    for (;;) {
        bool moved = admit(pump);
        if (pump->count == 0 && !moved) {
            return NULL; /* closing */
        }
        if (advance_all(pump) || moved) {
            pump->looks = 0;
        } else {
            rest(pump);
        }
    }
}

/* ---- everybody's ---- */

enum status submitter_create(struct submitter **pump, const struct gpu_device *device, struct error *err) {
    struct submitter *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    made->arrived.last = &made->arrived.first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->arrival, NULL);
    int error = pthread_create(&made->thread, NULL, submitter_main, made);
    made->started = error == 0;
    if (error) {
        submitter_destroy(made);
        return fail(err, ST_BUSY, "cannot start a thread: %s", strerror(error));
    }
    *pump = made;
    return ST_OK;
}

void submitter_destroy(struct submitter *pump) {
    if (!pump) {
        return;
    }
    pthread_mutex_lock(&pump->lock);
    pump->closing = true;
    pthread_cond_signal(&pump->arrival);
    pthread_mutex_unlock(&pump->lock);
    if (pump->started) {
        pthread_join(pump->thread, NULL);
    }
    pthread_mutex_destroy(&pump->lock);
    pthread_cond_destroy(&pump->arrival);
    free(pump);
}

enum status submitter_run(struct submitter *pump, struct gpu_lane *lane, const struct gpu_transcode *job,
                          size_t *size, struct lane_timing *timing, struct error *err) {
    struct submission ticket = {.lane = lane, .job = job};
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
