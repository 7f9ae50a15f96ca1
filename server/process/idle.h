/* SPDX-License-Identifier: MIT
 * The first thread waits here for signals. Meanwhile it gives idle memory back to the system.
 *
 * Ending by itself: with idle_exit a daemon whose port nobody asks ends as after SIGTERM. A service manager
 * that holds the socket starts another one when somebody comes. */
#ifndef BLURD_SERVER_PROCESS_IDLE_H
#define BLURD_SERVER_PROCESS_IDLE_H

struct service;

/* Waits for a signal of signals_open and returns its number; or 0, when idle_exit has passed without a
 * request on the port. A request lasts until its answer is sent; connections between requests, and whatever
 * the admin listener is asked, do not count. Reads the settings anew after each call. */
int idle_wait(struct service *service, int signals);

#endif
