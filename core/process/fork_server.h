/* SPDX-License-Identifier: MIT
 * A process that starts other processes for the daemon, or does other work outside of the daemon's sandbox.
 * It is forked before the daemon has threads and enters the sandbox: in the memory of the process and of its
 * children no lock is held, and they are outside of the sandbox.
 *
 * The daemon cannot fork the process again later. So its parent is another process, the keeper, which
 * receives nothing and waits. When the process ends, the keeper forks a new one, whose memory is as it was at
 * the start: at once, or after a second if the process ran for less than a second. The new process has the
 * same channel and receives the messages that the old one has not received. */
#ifndef BLURD_CORE_PROCESS_FORK_SERVER_H
#define BLURD_CORE_PROCESS_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/status.h"

enum { FORK_SERVER_FD = 3 }; /* the server's end of the channel */

struct fork_server {
    int socket;  /* the daemon's end of the channel (core/process/channel.h) */
    int running; /* eventfd: readable while the process runs */
    pid_t pid;   /* of the keeper */
};

/* Forks the keeper, which forks a process of this name (a literal) that calls `run`, with FORK_SERVER_FD as
 * its only descriptor beside the standard ones. Signals that the caller blocks stay blocked. `run` should
 * return when the daemon's end is closed; if it returns earlier, it is called again. ST_BUSY without memory
 * or processes. */
enum status fork_server_start(struct fork_server *server, const char *name, void (*run)(void *context),
                              void *context, struct error *err);

/* Whether the process runs. False while the keeper waits to start it again, or lacks memory or processes for
 * that, and for ever after both were killed. Thread-safe. */
bool fork_server_runs(const struct fork_server *server);

/* Closes the daemon's end and waits for both processes to end, which wakes them up if they were stopped. The
 * process has four seconds and is then killed. Takes five seconds at most: a keeper that does not go on, as
 * under a debugger, is left behind. */
void fork_server_end(struct fork_server *server);

#endif
