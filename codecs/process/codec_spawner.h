/* SPDX-License-Identifier: MIT
 * The spawner is a process that starts others for isolated codecs, so that the daemon, which reads network
 * data, needs no right to start processes.
 *
 * The daemon forks it while it has one thread and no client's data in its memory. It opens a codec's library
 * when the first process wants it, so that a new process is a fork of one that has it. It keeps the
 * child's end of each socket pair: it kills the child when the daemon's end is shut down or closed, and
 * closes the child's end when the child is reaped. */
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

/* Asks for a process that can run `codecs` (bits of enum codec_id), with the caller's priority; *socket is
 * the link to it. Returns at once: a process that cannot start closes its end. ST_BUSY without descriptors or
 * without the spawner. Thread-safe. */
enum status codec_spawner_start(struct codec_spawner *spawner, unsigned codecs, int *socket,
                                struct error *err);

/* Ends a process: closes the link, and waits until the process is gone, so that it no longer writes to a
 * slot. Thread-safe. */
void codec_spawner_stop(int socket);

/* The codec's name for people. */
const char *codec_spawner_title(const struct codec_spawner *spawner, enum codec_id id);

#endif
