/* SPDX-License-Identifier: MIT
 * The engine opens the GPUs of this host and gives each run to the least loaded one. It runs in its own
 * process (engine_process.c), or in the front with --single-process. */
#ifndef BLURD_GPU_ENGINE_ENGINE_H
#define BLURD_GPU_ENGINE_ENGINE_H

#include "detect/model.h"
#include "gpu/cuda/program.h"
#include "gpu/wire/wire.h"

struct engine;
struct engine_session;

struct engine_options {
    const char *gpus;    /* "all", or numbers separated by commas */
    const char *library; /* path of the driver; NULL: the system's */
    struct model_paths models;
    bool jpeg;         /* GPUs also decode and encode JPEGs */
    unsigned pictures; /* JPEGs in progress on all GPUs; 0: pictures_each on each */
    unsigned pictures_each;
    bool sandbox, sandbox_must; /* likewise; only engine_process uses them */
    struct program_options program;
};

/* Opens the driver and every wanted GPU, fills in *ready, logs GPUs that fail. ST_BUSY when all fail and the
 * last one for want of memory, else ST_DEVICE when all fail. */
enum status engine_open(struct engine **engine, const struct engine_options *options,
                        struct wire_ready *ready, struct error *err);

/* NULL is allowed. Do not call it after a sticky error (cuda_is_sticky). */
void engine_close(struct engine *engine);

/* A session has a stream on every GPU. One thread creates and uses it. */
enum status engine_session_create(struct engine_session **session, struct engine *engine, struct error *err);
void engine_session_destroy(struct engine_session *session);

/* Checks the request, runs it and fills *done. Takes ownership of the slot's memfd `fd`. Returns false after
 * a sticky error: the caller then answers and ends the process. */
bool engine_run(struct engine_session *session, const struct wire_run *run, int fd, struct wire_done *done);

/* Takes work off the requests: opens all streams for JPEGs with memory for a picture of 1080p each, then
 * registers slots until engine_leave. On a thread of its own, which the caller joins before engine_close.
 * Without it the first runs do the same and take longer. */
void engine_attend(struct engine *engine);
void engine_leave(struct engine *engine);

/* Whether a GPU is lost and a thread is stuck in its driver (gpu/cuda/hang_detector.h), so that only the end
 * of the process answers its run. *err then says so. Call it every few milliseconds, on a thread of its own.
 */
bool engine_is_stuck(struct engine *engine, struct error *err);

/* Makes the next run fault on the device. For tests. */
void engine_arm_fault(struct engine *engine);

/* The engine process: serves the front on WIRE_CONTROL_FD until that is closed. */
_Noreturn void engine_process(const struct engine_options *options);

#endif
