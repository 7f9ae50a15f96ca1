/* SPDX-License-Identifier: MIT
 * A process that starts other processes for the daemon. It is forked before the daemon has threads, so that
 * it and its children begin with a memory in which no lock is held, and outside of the daemon's sandbox. */
#ifndef BLURD_CORE_PROCESS_FORK_SERVER_H
#define BLURD_CORE_PROCESS_FORK_SERVER_H

#include <sys/types.h>

#include "core/status.h"

enum { FORK_SERVER_FD = 3 }; /* the server's end of the channel */

struct fork_server {
    int socket; /* the daemon's end of the channel (core/process/channel.h) */
    pid_t pid;
};

/* Forks a process of this name that calls `run`, with FORK_SERVER_FD as its only descriptor beside the
 * standard ones. Signals that the caller blocks stay blocked. The process ends when `run` returns, which it
 * should do when the daemon's end is closed. ST_BUSY without memory or processes. */
enum status fork_server_start(struct fork_server *server, const char *name, void (*run)(void *context),
                              void *context, struct error *err);

/* Closes the daemon's end and waits for the process to end. */
void fork_server_end(struct fork_server *server);

#endif
