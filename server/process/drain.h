/* SPDX-License-Identifier: MIT
 * Graceful shutdown. */
#ifndef BLURD_SERVER_PROCESS_DRAIN_H
#define BLURD_SERVER_PROCESS_DRAIN_H

struct service;
struct http;

/* Fails /readyz and tells the service manager, accepts connections for drain_delay, since load balancers
 * notice late, closes the listener, and then finishes the requests in flight, for at most drain_timeout. A
 * second SIGTERM or SIGINT exits the process at once. Afterwards no worker has a request. */
void drain(struct service *service, struct http *http, int signals);

#endif
