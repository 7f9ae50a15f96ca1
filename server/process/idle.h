/* SPDX-License-Identifier: MIT
 * The main thread waits here for signals. Meanwhile it returns unused memory to the system, and with
 * idle_exit it ends the daemon after a time without requests; a service manager that holds the socket starts
 * the daemon again at the next connection. */
#ifndef BLURD_SERVER_PROCESS_IDLE_H
#define BLURD_SERVER_PROCESS_IDLE_H

struct service;

/* Waits for a signal and returns its number, or 0 once idle_exit has passed without a request on the main
 * port. A request lasts until its answer is sent. Open connections and requests to the admin listener do not
 * count. Each call reads the settings anew. */
int idle_wait(struct service *service, int signals);

#endif
