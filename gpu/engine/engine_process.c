/* SPDX-License-Identifier: MIT
 * The engine process: one thread reads the control socket, and one thread serves each session. When in
 * doubt the process ends; the front redoes the work elsewhere and starts a new engine. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/process/channel.h"
#include "core/process/descriptors.h"
#include "gpu/engine/engine.h"
#include "gpu/engine/engine_sandbox.h"

enum {
    SLACK_NS = 1000, /* of the short sleeps of gpu_stream_wait */
    GUARD_NS = 20000000,
    DESCRIPTORS = 1024, /* for the driver, some 300 sessions of workers, and slots on their way */
};

struct session_thread {
    struct engine *engine;
    int socket;
};

/* The engine of this process, for the signal handler. */
static struct engine *the_engine;

static void on_fault_signal(int signal) {
    (void)signal;
    if (the_engine) {
        engine_arm_fault(the_engine);
    }
}

/* Frees nothing: after a sticky error the driver may crash or hang in its clean-up. */
static void end_process(const struct error *why) {
    log_message(LOG_ERROR, "engine", "ending after: %s", why->text);
    _exit(1);
}

/* The first run that finds memory creates the session; until then the status is ST_BUSY. */
static bool serve_run(struct engine *engine, struct engine_session **session, const struct wire_run *run,
                      int slot, struct wire_done *done) {
    *done = (struct wire_done){0};
    enum status status = *session ? ST_OK : engine_session_create(session, engine, &done->error);
    if (status == ST_OK) {
        return engine_run(*session, run, slot, done);
    }
    close(slot);
    return status != ST_DEVICE;
}

static void *session_main(void *argument) {
    struct session_thread thread = *(struct session_thread *)argument;
    free(argument);
    struct engine_session *session = NULL;
    struct wire_run run;
    struct wire_done done;
    struct error err;
    int slot;
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    while (channel_receive(thread.socket, &run, sizeof run, WIRE_RUN, &slot, -1, &err) == ST_OK) {
        bool sound = serve_run(thread.engine, &session, &run, slot, &done);
        if (channel_send(thread.socket, &done, sizeof done, WIRE_DONE, -1, &err) != ST_OK) {
            break;
        }
        if (!sound) {
            end_process(&done.error);
        }
    }
    engine_session_destroy(session);
    close(thread.socket);
    return NULL;
}

static void start_session(struct engine *engine, int socket) {
    struct session_thread *thread = malloc(sizeof *thread);
    pthread_t id;
    if (thread) {
        *thread = (struct session_thread){engine, socket};
        if (pthread_create(&id, NULL, session_main, thread) == 0) {
            pthread_detach(id);
            return;
        }
    }
    free(thread);
    close(socket); /* the front sees the session end */
}

static void *attend_main(void *engine) {
    prctl(PR_SET_NAME, "blurd-attend");
    engine_attend(engine);
    return NULL;
}

static void *guard_main(void *engine) {
    struct error err;
    prctl(PR_SET_NAME, "blurd-guard");
    while (!engine_is_stuck(engine, &err)) {
        nanosleep(&(struct timespec){.tv_nsec = GUARD_NS}, NULL);
    }
    end_process(&err);
    return NULL;
}

/* The engine works without a thread that could not be started: without attend_main, the first requests are
 * slower; without guard_main, a request whose thread is in a call when the GPU faults waits for the driver.
 */
static void start_helper(void *(*helper)(void *engine), struct engine *engine) {
    pthread_t id;
    if (pthread_create(&id, NULL, helper, engine) == 0) {
        pthread_detach(id);
    }
}

/* Opens the driver before the sandbox, since it needs more rights to start than to run. */
static enum status open_closed(struct engine **engine, const struct engine_options *options,
                               struct wire_ready *ready, struct error *err) {
    static struct engine_sandbox sandbox;
    bool closed = false;
    if (options->sandbox) {
        engine_sandbox_prepare(&sandbox);
    }
    enum status status = engine_open(engine, options, ready, err);
    if (status == ST_OK && options->sandbox) {
        status = engine_sandbox_enter(&sandbox, options->sandbox_must, &closed, err);
    }
    ready->closed = closed;
    return status;
}

/* Threads would wait while the table grows. */
static void expect_descriptors(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    descriptors_expect(limit.rlim_cur < DESCRIPTORS ? (unsigned)limit.rlim_cur : DESCRIPTORS);
}

void engine_process(const struct engine_options *options) {
    struct wire_ready ready = {0};
    struct wire_session session;
    struct error err = {0};
    struct engine *engine = NULL;
    int socket;
    signal(SIGINT, SIG_IGN); /* the front ends the engine, also at a terminal */
    signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "blurd-engine");
    expect_descriptors();
    enum status status = open_closed(&engine, options, &ready, &err);
    ready.error = err;
    ready.error.status = status;
    if (channel_send(WIRE_CONTROL_FD, &ready, sizeof ready, WIRE_READY, -1, &err) != ST_OK ||
        status != ST_OK) {
        _exit(1);
    }
    the_engine = engine;
    start_helper(attend_main, engine);
    start_helper(guard_main, engine);
    signal(SIGUSR1, on_fault_signal);
    while (channel_receive(WIRE_CONTROL_FD, &session, sizeof session, WIRE_SESSION, &socket, -1, &err) ==
           ST_OK) {
        start_session(engine, socket);
    }
    _exit(0); /* skips the driver's exit handlers, which may hang */
}
