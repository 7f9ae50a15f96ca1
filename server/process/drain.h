/* SPDX-License-Identifier: MIT
 * Signals, and the orderly end after one. */
#ifndef BLURD_SERVER_PROCESS_DRAIN_H
#define BLURD_SERVER_PROCESS_DRAIN_H

struct service;
struct http;

/* Blocks SIGTERM, SIGINT and SIGHUP, for every thread made afterwards, too, and returns a
 * signalfd for them. */
int signals_open(void);

/* Waits for one of them and returns its number. */
int signals_wait(int signals);

/* Readiness fails at once, and a service manager is told; connections are accepted for the drain delay, since
 * a load balancer notices late; then what is in flight is finished, for the drain timeout at most. Leaves the
 * process at once when a second SIGTERM or SIGINT comes. Afterwards no request is with a worker. */
void drain(struct service *service, struct http *http, int signals);

#endif
