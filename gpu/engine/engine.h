/* SPDX-License-Identifier: MIT
 * The engine opens the GPUs of this host in the calling process, and gives each run to the least loaded one.
 * It runs in a process of its own (engine_process.c), or in the front with --single-process. */
#ifndef BLURD_GPU_ENGINE_ENGINE_H
#define BLURD_GPU_ENGINE_ENGINE_H

#include "gpu/cuda/program.h"
#include "gpu/wire/wire.h"

struct engine;
struct engine_session;

struct engine_options {
    const char *gpus;           /* "all", or numbers separated by commas */
    const char *library;        /* the driver's; NULL: as usual */
    bool jpeg;                  /* JPEGs are wanted, too */
    unsigned pictures;          /* as in struct gpu_options */
    bool sandbox, sandbox_must; /* likewise; of the process */
    struct program_options program;
};

/* Opens the driver and every wanted GPU; a GPU that fails is left out with a line in the
 * log. *ready tells what was found and what it took. ST_DEVICE when none is left. */
enum status engine_open(struct engine **engine, const struct engine_options *options,
                        struct wire_ready *ready, struct error *err);

/* Ends the engine; NULL is allowed. Not after a sticky error. */
void engine_close(struct engine *engine);

/* A session has a stream on every GPU for one thread, which creates and uses it. */
enum status engine_session_create(struct engine_session **session, struct engine *engine, struct error *err);
void engine_session_destroy(struct engine_session *session);

/* Checks the request, and runs it from pixels to pixels or from JPEG to JPEG. The slot's memfd `fd` becomes
 * the engine's. Fills *done. Returns false after a sticky error: the caller then answers and ends the
 * process. */
bool engine_run(struct engine_session *session, const struct wire_run *run, int fd, struct wire_done *done);

/* Makes the next run fault on the device, to show that nothing is lost. For tests. */
void engine_arm_fault(struct engine *engine);

/* The engine process: serves the front on WIRE_CONTROL_FD until that is closed. */
_Noreturn void engine_process(const struct engine_options *options);

#endif
