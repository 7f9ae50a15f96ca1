/* SPDX-License-Identifier: MIT
 * A thread's connection to an engine: a socket to its process, or a session in this process. */
#ifndef BLURD_GPU_FRONT_LINK_H
#define BLURD_GPU_FRONT_LINK_H

#include "core/slot.h"
#include "gpu/engine/engine.h"
#include "gpu/front/job_timeout.h"

struct engine_link {
    uint64_t epoch;                 /* serial number of the engine; 0: none */
    int socket;                     /* to the engine process, -1: none */
    struct engine_session *session; /* with single_process, else NULL */
};
#define LINK_NONE ((struct engine_link){.socket = -1})

/* Lends the slot, from which all memory of the run must have been taken, to the engine, runs there, waits for
 * the answer as long as job_timeout_ms says, and checks it. After any failure but ST_BUSY (no device memory
 * for this run) and ST_UNSUPPORTED (a JPEG that the device does not take; a slot that no engine may map) the
 * engine must be ended. Until then it may write to the slot. */
enum status link_run(struct engine_link *link, struct wire_run *run, struct slot *slot,
                     struct job_timeout *timeout, struct wire_done *done, struct error *err);

/* The run of a job, without its slot. `picture`: as in struct wire_transcode. */
struct wire_run link_transcode(const struct transcode *job, uint64_t picture);

/* Closes the connection and sets it to LINK_NONE, which is allowed. */
void link_close(struct engine_link *link);

#endif
