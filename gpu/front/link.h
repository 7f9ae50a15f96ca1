/* SPDX-License-Identifier: MIT
 * A thread's connection to an engine: a socket to its process, or a session in this process. */
#ifndef BLURD_GPU_FRONT_LINK_H
#define BLURD_GPU_FRONT_LINK_H

#include "core/slot.h"
#include "gpu/engine/engine.h"
#include "gpu/wire/wire.h"

struct engine_link {
    uint64_t epoch;                 /* serial number of the engine; 0: none */
    int socket;                     /* to the engine process, -1: none */
    struct engine_session *session; /* with single_process, else NULL */
};
#define LINK_NONE ((struct engine_link){.socket = -1})

/* 28 JPEGs of 1080p, as many as a GPU does at a time, have 84 MiB, so they have least_ms. A picture of 40
 * megapixels with 16 bits and alpha has 305. */
enum { LINK_TIMEOUT_BYTES = 256 << 20 };

/* How long runs may take. They share the GPUs, so a run takes longer the more work there is. An engine that
 * has much to do must not count as one that hangs: its end costs all runs, and after three ends the GPU has
 * to wait (gpu/front/supervisor.h). Of all runs of a backend. Thread-safe. */
struct link_timeout {
    int64_t least_ms;             /* enough for LINK_TIMEOUT_BYTES of pictures */
    int64_t most_ms;              /* for any number of them, unless it is less than least_ms */
    _Atomic int64_t begun, ended; /* link_bytes of all runs that ever began, and ended */
};

/* Bytes of the run's largest picture on the way from the source, as the chain reads it, to the result. */
int64_t link_bytes(const struct wire_run *run);

/* How many milliseconds a run may take while runs of so many bytes are in progress. */
int64_t link_timeout_ms(const struct link_timeout *timeout, int64_t bytes);

/* Lends the slot, from which all memory of the run must have been taken, to the engine, runs there, waits for
 * the answer and checks it. The limit of the wait is link_timeout_ms of the bytes of all runs that overlap
 * with this one; a run that begins later extends it.
 *
 * ST_BUSY: the device lacks memory for this run. ST_UNSUPPORTED: the device does not take this JPEG, or no
 * engine may map this slot. After any other failure the caller must end the engine, which may write to the
 * slot until then. */
enum status link_run(struct engine_link *link, struct wire_run *run, struct slot *slot,
                     struct link_timeout *timeout, struct wire_done *done, struct error *err);

/* The run of a job, without its slot. `picture`: as in struct wire_transcode. */
struct wire_run link_transcode(const struct transcode *job, uint64_t picture);

/* Closes the connection and sets it to LINK_NONE, which is allowed. */
void link_close(struct engine_link *link);

#endif
