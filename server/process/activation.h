/* SPDX-License-Identifier: MIT
 * The protocols between a service manager and its service: sockets opened before the process starts
 * (systemd.socket(5), sd_listen_fds(3)) and state notifications (sd_notify(3)). Both use the environment and
 * need no library. */
#ifndef BLURD_SERVER_PROCESS_ACTIVATION_H
#define BLURD_SERVER_PROCESS_ACTIVATION_H

#include "core/status.h"

/* Inherited sockets; -1: none. */
struct activation {
    int listen;
    int admin; /* named "admin", or the second one */
};

/* Takes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES out of the environment. Both sockets are -1 without them,
 * or when they are for another process. ST_ARGUMENT when a descriptor is not a listening stream socket, or
 * when there are more than two. To be called before the first thread is created. */
enum status activation_take(struct activation *activation, struct error *err);

/* Connects to the socket that NOTIFY_SOCKET names; -1 without one. A failure is logged and returns -1, too.
 * To be called before the sandbox forbids new sockets. */
int activation_connect(void);

/* Sends one line, such as "READY=1". With -1 nothing happens. */
void activation_notify(int socket, const char *state);

#endif
