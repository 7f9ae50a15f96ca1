/* SPDX-License-Identifier: MIT
 * What a service manager and its service tell each other: sockets that are open before the
 * process starts (systemd.socket(5), sd_listen_fds(3)), and states (sd_notify(3)). Both are
 * plain protocols over the environment; no library is needed. */
#ifndef BLURD_SERVER_PROCESS_ACTIVATION_H
#define BLURD_SERVER_PROCESS_ACTIVATION_H

#include "core/status.h"

/* Sockets that were handed over; -1: none. */
struct activation {
    int listen;
    int admin; /* named "admin", or the second one */
};

/* Takes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES out of the environment; without them, or
 * when they are for another process, both are -1. ST_ARGUMENT when a descriptor is not a
 * listening stream socket, or when there are more than two. Before the first thread. */
enum status activation_take(struct activation *activation, struct error *err);

/* Connects to the socket that NOTIFY_SOCKET names, while sockets can still be made; -1: there is none, or
 * nobody listens, which is logged and no reason to stop. */
int activation_connect(void);

/* Sends one line, such as "READY=1", to that socket; to -1 nothing. */
void activation_notify(int socket, const char *state);

#endif
