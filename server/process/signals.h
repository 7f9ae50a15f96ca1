/* SPDX-License-Identifier: MIT
 * SIGTERM, SIGINT and SIGHUP, read from a descriptor. */
#ifndef BLURD_SERVER_PROCESS_SIGNALS_H
#define BLURD_SERVER_PROCESS_SIGNALS_H

/* Blocks the three signals for this thread and those that it creates, ignores SIGPIPE, and returns a
 * signalfd; -1 with errno. */
int signals_open(void);

/* Waits for a signal and returns its number. */
int signals_wait(int signals);

#endif
