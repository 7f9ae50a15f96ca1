/* SPDX-License-Identifier: MIT
 * Keeps an engine running: starts it, tests its pixels, notices its end, starts the next one.
 *
 * It has a thread for that. After three ends within five minutes the thread waits a minute between tries, so
 * that a failing GPU does not keep the host busy. Without a GPU it tries again every minute in a new process,
 * since a GPU may appear. */
#ifndef BLURD_GPU_FRONT_SUPERVISOR_H
#define BLURD_GPU_FRONT_SUPERVISOR_H

#include "filters/backend.h"
#include "gpu/front/link.h"
#include "gpu/gpu.h"

struct supervisor;

/* Starts the thread; the engine follows. `engine` is for single_process. ST_BUSY without memory or threads.
 */
enum status supervisor_create(struct supervisor **supervisor, const struct gpu_options *options,
                              const struct engine_options *engine, struct error *err);

/* Ends the engine and the thread. No run may be under way. NULL is allowed. */
void supervisor_destroy(struct supervisor *supervisor);

/* As backend_state and, with `await`, backend_await of filters/backend.h. */
enum backend_state supervisor_state(struct supervisor *supervisor, bool await,
                                    char reason[BACKEND_REASON_MAX]);

/* As backend_transcodes of filters/backend.h. */
unsigned supervisor_pictures(struct supervisor *supervisor);

/* Connects the link to the engine that runs now, and runs as link_run does. Any failure but ST_BUSY
 * and ST_UNSUPPORTED ends the engine. Thread-safe; a link belongs to one thread. */
enum status supervisor_run(struct supervisor *supervisor, struct engine_link *link, struct wire_run *run,
                           int slot, int64_t timeout_ms, struct wire_done *done, struct error *err);

#endif
