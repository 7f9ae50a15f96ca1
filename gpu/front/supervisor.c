/* SPDX-License-Identifier: MIT */
#include "gpu/front/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/process/channel.h"
#include "gpu/front/orphans.h"
#include "gpu/front/selftest.h"
#include "gpu/front/selftest_jpeg.h"
#include "gpu/front/spawner.h"

enum {
    START_TIMEOUT_MS = 60000, /* opening a GPU takes eight processes a second each; NVRTC takes seconds */
    BREAKER_ENDS = 3,
    BREAKER_WINDOW_MS = 5 * 60 * 1000,
    RETRY_MS = 60 * 1000,
    RETRY_FULL_MS = 4000, /* a GPU without memory is to be used 5 s after it has some */
};

struct supervisor {
    struct gpu_options options;
    struct engine_options engine_options; /* with single_process */
    pthread_t thread;
    int wake; /* eventfd: an engine failed, or shutting down */
    _Atomic bool closing;
    _Atomic int state;         /* enum backend_state */
    _Atomic unsigned pictures; /* JPEGs in progress at most; 0: none */
    _Atomic uint32_t refused;  /* filters that the GPU does not get, SELFTEST_JPEGS (gpu/front/selftest.h) */
    pthread_mutex_t lock;      /* guards the members below */
    pthread_cond_t changed;    /* the state */
    char reason[BACKEND_REASON_MAX];
    uint64_t epoch;              /* of the current or the last engine */
    int control;                 /* socket of the current engine, or -1 */
    int lifeline;                /* of the current engine (gpu/front/spawner.h), or -1 */
    struct engine *engine;       /* with single_process */
    int64_t ended[BREAKER_ENDS]; /* clock_ns of the last ends, oldest first */
    bool open;                   /* start the next engine without a sandbox; the thread only */
    bool failing;                /* no engine has served since the last message; the thread only */
    struct orphans orphans;      /* memory that lost engines may write to */
};

static void set_state(struct supervisor *supervisor, enum backend_state state, const char *reason) {
    pthread_mutex_lock(&supervisor->lock);
    bool known = supervisor->failing && strcmp(supervisor->reason, reason) == 0; /* the next start, too */
    supervisor->failing = state == BACKEND_DOWN;
    snprintf(supervisor->reason, sizeof supervisor->reason, "%.255s", reason);
    atomic_store(&supervisor->state, state);
    pthread_cond_broadcast(&supervisor->changed);
    pthread_mutex_unlock(&supervisor->lock);
    enum log_level level = known ? LOG_DEBUG : state == BACKEND_DOWN ? LOG_WARNING : LOG_INFO;
    log_message(level, "gpu", "%s", reason);
}

unsigned supervisor_pictures(struct supervisor *supervisor) {
    return atomic_load(&supervisor->state) == BACKEND_SERVING ? atomic_load(&supervisor->pictures) : 0;
}

enum backend_state supervisor_state(struct supervisor *supervisor, bool await,
                                    char reason[BACKEND_REASON_MAX]) {
    if (await || reason) {
        pthread_mutex_lock(&supervisor->lock);
        while (await && atomic_load(&supervisor->state) == BACKEND_STARTING) {
            pthread_cond_wait(&supervisor->changed, &supervisor->lock);
        }
        if (reason) {
            memcpy(reason, supervisor->reason, sizeof supervisor->reason);
        }
        pthread_mutex_unlock(&supervisor->lock);
    }
    return (enum backend_state)atomic_load(&supervisor->state);
}

/* Opens both socket pairs of an engine, or neither. */
static enum status open_pairs(int lifeline[2], int control[2], struct error *err) {
    enum status status = channel_pair(lifeline, err);
    if (status == ST_OK && (status = channel_pair(control, err)) != ST_OK) {
        close(lifeline[0]);
        close(lifeline[1]);
    }
    return status;
}

static enum status start_process(struct supervisor *supervisor, struct wire_ready *ready, struct error *err) {
    int lifeline[2], control[2];
    enum status status = open_pairs(lifeline, control, err);
    if (status != ST_OK) {
        return status;
    }
    pthread_mutex_lock(&supervisor->lock);
    supervisor->lifeline = lifeline[0];
    supervisor->control = control[0];
    bool closing =
        atomic_load(&supervisor->closing); /* supervisor_destroy may have run before the lifeline existed */
    pthread_mutex_unlock(&supervisor->lock);
    if (closing) {
        close(lifeline[1]);
        close(control[1]);
        return fail(err, ST_DEVICE, "the daemon is shutting down");
    }
    if (spawner_start(supervisor->options.spawner, supervisor->open, lifeline, control, err) != ST_OK) {
        return fail(err, ST_DEVICE, "the engine process was not started");
    }
    status = channel_receive(control[0], ready, sizeof *ready, WIRE_READY, NULL, START_TIMEOUT_MS, err);
    status = status == ST_OK ? wire_ready_check(ready, err) : status;
    if (status == ST_OK && ready->error.status != ST_OK) {
        return fail(err, ready->error.status, "%s", ready->error.text);
    }
    return status;
}

static enum status start_engine(struct supervisor *supervisor, struct wire_ready *ready, struct error *err) {
    eventfd_t ignored;
    pthread_mutex_lock(&supervisor->lock);
    supervisor->epoch++;
    eventfd_read(supervisor->wake, &ignored); /* reports about earlier engines */
    pthread_mutex_unlock(&supervisor->lock);
    if (!supervisor->options.single_process) {
        return start_process(supervisor, ready, err);
    }
    return engine_open(&supervisor->engine, &supervisor->engine_options, ready, err);
}

static void stop_engine(struct supervisor *supervisor) {
    pthread_mutex_lock(&supervisor->lock);
    if (supervisor->control >= 0) {
        close(supervisor->control);
    }
    int lifeline = supervisor->lifeline;
    supervisor->control = supervisor->lifeline = -1;
    pthread_mutex_unlock(&supervisor->lock);
    if (lifeline >= 0) {
        int64_t start = clock_ns();
        spawner_kill(lifeline);
        spawner_reap(lifeline);
        close(lifeline);
        log_message(LOG_DEBUG, "gpu", "the engine's process is gone after %.0f ms",
                    clock_ns_to_ms(clock_ns() - start));
    }
    engine_close(supervisor->engine);
    supervisor->engine = NULL;
    atomic_store(&supervisor->pictures, 0);
    orphans_clear(&supervisor->orphans, supervisor->epoch); /* only this thread changes the epoch */
}

/* Waits until the engine ends, a failure is reported, or `ms` have passed. */
static void wait_for_trouble(struct supervisor *supervisor, int64_t ms) {
    struct pollfd fds[2] = {
        {.fd = supervisor->wake, .events = POLLIN},
        {.fd = supervisor->control, .events = POLLIN},
    };
    while (poll(fds, 2, (int)ms) < 0 && errno == EINTR) {
    }
    if (fds[0].revents & POLLIN) {
        eventfd_t ignored;
        eventfd_read(supervisor->wake, &ignored);
    }
}

/* Returns the time to wait before the next start. Call it when an engine has ended. */
static int64_t breaker(struct supervisor *supervisor) {
    int64_t now = clock_ns();
    memmove(&supervisor->ended[0], &supervisor->ended[1],
            sizeof supervisor->ended - sizeof supervisor->ended[0]);
    supervisor->ended[BREAKER_ENDS - 1] = now;
    bool often = supervisor->ended[0] && now - supervisor->ended[0] < (int64_t)BREAKER_WINDOW_MS * 1000000;
    return often ? RETRY_MS : 0;
}

static void announce(struct supervisor *supervisor, const struct wire_ready *ready, int64_t start) {
    const struct wire_device *first = &ready->device[0];
    char text[BACKEND_REASON_MAX];
    snprintf(text, sizeof text,
             "%u GPU(s), first %.40s, %u JPEGs at a time, program from %.40s; driver %.0f ms, context %.0f "
             "ms, compile %.0f ms, load %.1f ms, serving after %.0f ms",
             ready->device_count, first->name, ready->pictures, first->how, clock_ns_to_ms(ready->driver_ns),
             clock_ns_to_ms(first->context_ns), clock_ns_to_ms(first->compile_ns),
             clock_ns_to_ms(first->load_ns), clock_ns_to_ms(clock_ns() - start));
    atomic_store(&supervisor->pictures, ready->pictures);
    set_state(supervisor, BACKEND_SERVING, text);
}

/* Tells the spawner that the sandbox works, or logs that the engine serves without one. */
static void note_sandbox(struct supervisor *supervisor, const struct wire_ready *ready) {
    if (ready->closed) {
        spawner_proven(supervisor->lifeline);
    } else if (supervisor->open) {
        log_message(LOG_WARNING, "gpu",
                    "the GPU's process does not work in its sandbox and serves without it; --sandbox on "
                    "would leave the GPU out, --sandbox off is silent about it");
    }
}

/* Connects the link to the current engine, unless it already is. A client's run gets an engine only once that
 * has been tested: one that a picture has taken over could change the memory in which it is tested. */
static enum status connect_link(struct supervisor *supervisor, struct engine_link *link, bool tests,
                                struct error *err) {
    pthread_mutex_lock(&supervisor->lock);
    uint64_t epoch = supervisor->epoch;
    pthread_mutex_unlock(&supervisor->lock);
    if (link->epoch == epoch) {
        return ST_OK;
    }
    link_close(link);
    if (supervisor->options.single_process) {
        enum status created = engine_session_create(&link->session, supervisor->engine, err);
        link->epoch = created == ST_BUSY ? 0 : epoch; /* 0: the next run tries again */
        return created;
    }
    int pair[2];
    struct wire_session message;
    enum status status = channel_pair(pair, err);
    if (status != ST_OK) {
        return status;
    }
    pthread_mutex_lock(&supervisor->lock);
    if (supervisor->control < 0) { /* without an epoch, the next engine is not blamed */
        status = fail(err, ST_DEVICE, "there is no engine");
    } else if (!tests && atomic_load(&supervisor->state) != BACKEND_SERVING) {
        status = fail(err, ST_UNSUPPORTED, "the engine does not serve");
    } else {
        status = channel_send(supervisor->control, &message, sizeof message, WIRE_SESSION, pair[1], err);
        link->epoch = supervisor->epoch;
    }
    pthread_mutex_unlock(&supervisor->lock);
    close(pair[1]);
    link->socket = pair[0];
    return status;
}

/* Runs the self-test. An engine that fails it may still write to the slot, so it is stopped before the slot
 * is given back. */
static enum status test_engine(struct supervisor *supervisor, struct wire_ready *ready, struct error *err) {
    struct engine_link link = LINK_NONE;
    struct slot *slot = NULL;
    enum status status = slot_acquire(supervisor->options.slots, SLOT_LENT_WORK, &slot, err);
    if (status == ST_OK && (status = connect_link(supervisor, &link, true, err)) == ST_OK) {
        status = selftest_run(&link, slot, supervisor->options.reference, &supervisor->refused, err);
    }
    if (status == ST_OK) {
        note_sandbox(supervisor, ready); /* a fault of the codecs does not end it */
        status =
            selftest_jpeg_run(&link, slot, &supervisor->options, &ready->pictures, &supervisor->refused, err);
    }
    link_close(&link);
    if (status != ST_OK) {
        stop_engine(supervisor);
    }
    slot_give_back(slot);
    return status;
}

/* Runs one engine until it ends. Returns the time to wait before the next start. */
static int64_t engine_life(struct supervisor *supervisor) {
    struct wire_ready ready = {0};
    struct error err = {0};
    int64_t start = clock_ns();
    enum status status = start_engine(supervisor, &ready, &err);
    bool started = status == ST_OK;
    if (status == ST_OK) {
        status = test_engine(supervisor, &ready, &err);
    }
    bool served = status == ST_OK;
    if (served) {
        announce(supervisor, &ready, start);
        if (!atomic_load(&supervisor->closing)) { /* the wake-up may have been read above */
            wait_for_trouble(supervisor, -1);
        }
        fail(&err, ST_DEVICE, "the engine ended");
    }
    if (!atomic_load(&supervisor->closing)) {
        set_state(supervisor, BACKEND_DOWN, err.text);
    }
    while (supervisor->engine && status == ST_OK && !atomic_load(&supervisor->closing)) {
        wait_for_trouble(supervisor, -1); /* workers use the engine until they end */
    }
    stop_engine(supervisor);
    /* An engine that enters its sandbox and then fails may fail because of it, so the next runs without. */
    supervisor->open = !served && ready.closed && !supervisor->options.sandbox_must;
    return status == ST_BUSY ? RETRY_FULL_MS : started ? breaker(supervisor) : RETRY_MS;
}

/* Waits for `ms`, or until shutdown. Late reports about the previous engine do not end the wait. */
static void wait_pause(struct supervisor *supervisor, int64_t ms) {
    int64_t until = clock_ns() + ms * 1000000;
    for (int64_t left = ms; left > 0 && !atomic_load(&supervisor->closing);) {
        wait_for_trouble(supervisor, left);
        left = (until - clock_ns() + 999999) / 1000000;
    }
}

static void *supervisor_main(void *argument) {
    struct supervisor *supervisor = argument;
    while (!atomic_load(&supervisor->closing)) {
        int64_t pause = engine_life(supervisor);
        wait_pause(supervisor, pause);
    }
    return NULL;
}

enum status supervisor_create(struct supervisor **supervisor, const struct gpu_options *options,
                              const struct engine_options *engine, struct error *err) {
    struct supervisor *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->options = *options;
    made->engine_options = *engine;
    made->control = made->lifeline = -1;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(made->reason, sizeof made->reason, "starting");
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    orphans_init(&made->orphans);
    int error = made->wake < 0 ? EMFILE : pthread_create(&made->thread, NULL, supervisor_main, made);
    if (error) {
        close(made->wake);
        free(made);
        return fail(err, ST_BUSY, "cannot start the supervisor thread: %s", strerror(error));
    }
    *supervisor = made;
    return ST_OK;
}

void supervisor_destroy(struct supervisor *supervisor) {
    if (!supervisor) {
        return;
    }
    atomic_store(&supervisor->closing, true);
    eventfd_write(supervisor->wake, 1);
    pthread_mutex_lock(&supervisor->lock);
    if (supervisor->lifeline >= 0) {
        spawner_kill(supervisor->lifeline); /* the thread may be waiting for it to start */
    }
    pthread_mutex_unlock(&supervisor->lock);
    pthread_join(supervisor->thread, NULL);
    close(supervisor->wake);
    pthread_mutex_destroy(&supervisor->lock);
    orphans_finish(&supervisor->orphans);
    free(supervisor);
}

/* Ends the link's engine, unless a newer one runs. */
static void report_failure(struct supervisor *supervisor, struct engine_link *link, const struct error *why) {
    pthread_mutex_lock(&supervisor->lock);
    if (link->epoch == supervisor->epoch) {
        if (atomic_load(&supervisor->state) != BACKEND_DOWN) {
            log_message(LOG_WARNING, "gpu", "a job failed; restarting the GPU process: %s", why->text);
        }
        if (supervisor->lifeline >= 0) {
            spawner_kill(supervisor->lifeline);
        }
        snprintf(supervisor->reason, sizeof supervisor->reason, "the engine ended");
        atomic_store(&supervisor->state, BACKEND_DOWN);
        eventfd_write(supervisor->wake, 1);
    }
    pthread_mutex_unlock(&supervisor->lock);
}

enum status supervisor_run(struct supervisor *supervisor, struct engine_link *link, struct wire_run *run,
                           struct slot *slot, size_t kept, struct link_timeout *timeout,
                           struct wire_done *done, struct error *err) {
    if (!selftest_allows(atomic_load(&supervisor->refused), &run->chain)) {
        return fail(err, ST_UNSUPPORTED, "the self-test of the GPU refused a filter of the chain");
    }
    enum status status = connect_link(supervisor, link, false, err);
    if (status == ST_OK) {
        status = link_run(link, run, slot, timeout, done, err);
    }
    if (status != ST_OK && status != ST_BUSY && status != ST_UNSUPPORTED) {
        uint64_t epoch = link->epoch;
        report_failure(supervisor, link, err);
        link_close(link);
        if (!supervisor->options.single_process) {
            orphans_leave(&supervisor->orphans, epoch, slot, kept);
        }
    }
    return status;
}
