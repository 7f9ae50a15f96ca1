/* SPDX-License-Identifier: MIT
 * Lingering close, for answers that are sent before the request was read completely. Closing a socket while
 * the client still sends resets the connection and loses the answer; most proxies turn that into a 502. So
 * the socket stays open for a while after its write side is shut down, and incoming data is discarded. */
#ifndef BLURD_SERVER_HTTP_LINGERING_H
#define BLURD_SERVER_HTTP_LINGERING_H

#include "core/status.h"

struct lingering;

/* Starts the thread. ST_BUSY without memory, descriptors or threads. */
enum status lingering_create(struct lingering **lingering, struct error *err);

/* Closes all sockets and ends the thread. NULL is allowed. */
void lingering_destroy(struct lingering *lingering);

/* Keeps a copy of the descriptor until the peer closes its side, for two seconds at most. The caller closes
 * its own. Does nothing when the table is full. Thread-safe. */
void lingering_add(struct lingering *lingering, int fd);

#endif
