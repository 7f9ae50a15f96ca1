/* SPDX-License-Identifier: MIT
 * Keeps an engine running: a thread starts it, tests its pixels, and restarts it when it ends.
 *
 * After three ends within five minutes the thread waits a minute between starts, so that a failing GPU
 * does not keep the host busy. Without a GPU it retries every minute in a new process, since a GPU may
 * appear; with one that has no memory to spare every four seconds. */
#ifndef BLURD_GPU_FRONT_SUPERVISOR_H
#define BLURD_GPU_FRONT_SUPERVISOR_H

#include "filters/backend.h"
#include "gpu/front/link.h"
#include "gpu/gpu.h"

struct supervisor;

/* Starts the thread, which starts the engine. `engine`: for single_process. ST_BUSY without memory or
 * threads. */
enum status supervisor_create(struct supervisor **supervisor, const struct gpu_options *options,
                              const struct engine_options *engine, struct error *err);

/* Ends the engine and the thread. No run may be in progress. NULL is allowed. */
void supervisor_destroy(struct supervisor *supervisor);

/* As backend_state and, with `await`, backend_await of filters/backend.h. */
enum backend_state supervisor_state(struct supervisor *supervisor, bool await,
                                    char reason[BACKEND_REASON_MAX]);

/* As backend_transcodes of filters/backend.h. */
unsigned supervisor_pictures(struct supervisor *supervisor);

/* Connects the link to the current engine and runs on the slot as link_run does. Any failure but ST_BUSY and
 * ST_UNSUPPORTED ends the engine; then only the first `kept` bytes of the slot keep their content, and no
 * engine writes to it any more (gpu/front/orphans.h). Thread-safe; a link belongs to one thread. */
enum status supervisor_run(struct supervisor *supervisor, struct engine_link *link, struct wire_run *run,
                           struct slot *slot, size_t kept, struct link_timeout *timeout,
                           struct wire_done *done, struct error *err);

#endif
