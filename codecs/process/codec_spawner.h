/* SPDX-License-Identifier: MIT
 * The spawner is a process that starts others for isolated codecs, so that the daemon, which reads network
 * data, needs no right to start processes.
 *
 * The daemon forks it while it has one thread and no client's data in its memory. It opens a codec's library
 * when the first process wants it, so that a new process is a fork of one that has it. Each process has a
 * *lifeline*, a socket pair between the daemon and the spawner that the process itself does not hold. The
 * spawner kills the process when the daemon's end is shut down or closed. When it has reaped the process, it
 * sends one byte, unless the process was killed from outside, and closes its own end. */
#ifndef BLURD_CODECS_PROCESS_CODEC_SPAWNER_H
#define BLURD_CODECS_PROCESS_CODEC_SPAWNER_H

#include "codecs/process/codec_process.h"

enum { CODEC_PROCESSES_MAX = 1024 };

struct codec_spawner;

/* Forks the spawner. *spawner is NULL, with ST_OK, when no codec that the build has is isolated. To be called
 * before the first thread. ST_BUSY without memory or processes. */
enum status codec_spawner_fork(struct codec_spawner **spawner, const struct codec_process_options *options,
                               struct error *err);

/* Ends it. All processes must have ended. NULL is allowed. */
void codec_spawner_end(struct codec_spawner *spawner);

/* Whether processes can be started: the spawner runs, or none is needed (NULL). A spawner that has died comes
 * back (core/process/fork_server.h). Thread-safe. */
bool codec_spawner_serves(const struct codec_spawner *spawner);

/* A process, as the daemon has it. */
struct codec_child {
    int socket; /* to it; -1: none */
    int lifeline;
};
#define CODEC_CHILD_NONE ((struct codec_child){-1, -1})

/* Asks for a process that can run `codecs` (bits of enum codec_id and CODEC_READER), with the caller's
 * priority. Returns at once: a process that cannot start closes its sockets. ST_BUSY without descriptors or
 * without the spawner. Thread-safe. */
enum status codec_spawner_start(struct codec_spawner *spawner, unsigned codecs, struct codec_child *child,
                                struct error *err);

/* Whether the process was killed from outside: by the kernel for want of memory, by an operator, or by the
 * end of the spawner. False for a process that lives, or ended of its own doing, such as by a fault. Waits
 * until a process that has closed its socket is gone, for two seconds at most. To be asked before
 * codec_spawner_stop. */
bool codec_spawner_was_killed(const struct codec_child *child);

/* Kills the process, waits until it is gone and can no longer write to a slot, and sets *child to
 * CODEC_CHILD_NONE, which is allowed. Thread-safe. */
void codec_spawner_stop(struct codec_child *child);

/* Bits of what may be called between two frames: isolated codecs that write animations, and the reader. */
unsigned codec_spawner_between_frames(const struct codec_spawner *spawner);

/* The codec's name for people, or of what the reader reads. */
const char *codec_spawner_title(const struct codec_spawner *spawner, enum codec_id id);

#endif
