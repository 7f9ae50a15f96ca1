/* SPDX-License-Identifier: MIT
 * A daemon of this program that a command starts for itself, on a socket that no other user reaches. It ends
 * when the thread that started it does. */
#ifndef BLURD_SERVER_CLIENT_OWN_DAEMON_H
#define BLURD_SERVER_CLIENT_OWN_DAEMON_H

#include <sys/types.h>

#include "config/config.h"

enum { OWN_DAEMON_PATH_MAX = 32 };

struct own_daemon {
    pid_t pid;                      /* of the daemon, and of its process group; 0: none */
    int socket;                     /* names the socket, which has no path any more; -1: none */
    char path[OWN_DAEMON_PATH_MAX]; /* of a link to it: to connect to, in this process */
};

/* An option and the value that the daemon gets in place of the configuration's. */
struct own_daemon_option {
    const char *name, *value;
};

/* Starts a process that serves connections to `listening`, with these words of a command line, and messages
 * from warnings on. The descriptor stays the caller's. ST_BUSY: no process. */
enum status own_daemon_spawn(int listening, int count, char *const *words, pid_t *pid, struct error *err);

/* Starts one with this configuration, but for `options` and what a daemon for one command must not have:
 * other listeners, TLS, tokens, traces, a delay at its end. Takes connections at once, and answers when it is
 * ready; they are cut if it ends before. ST_BUSY with a sentence. */
enum status own_daemon_start(struct own_daemon *daemon, const struct config *config,
                             const struct own_daemon_option *options, unsigned count, struct error *err);

/* Whether it has ended by itself, or does so within that time. */
bool own_daemon_ended(struct own_daemon *daemon, unsigned wait_ms);

/* Ends it and waits for its end. Accepts a daemon that was not started. */
void own_daemon_stop(struct own_daemon *daemon);

/* Connects to it; the caller closes *fd. ST_BUSY with a sentence. */
enum status own_daemon_connect(const struct own_daemon *daemon, int *fd, struct error *err);

#endif
