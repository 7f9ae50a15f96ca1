/* SPDX-License-Identifier: MIT
 * Lets answers arrive that were given before the request was read to its end. Closing a socket
 * into which the other side still sends resets the connection, and the answer is lost on
 * its way; most proxies make a 502 of that. So the socket is kept for a while after its
 * end was sent, and what comes is thrown away. */
#ifndef BLURD_SERVER_HTTP_LINGERING_H
#define BLURD_SERVER_HTTP_LINGERING_H

#include "core/status.h"

struct lingering;

/* Starts the thread. ST_BUSY without memory, descriptors or threads. */
enum status lingering_create(struct lingering **lingering, struct error *err);

/* Closes what is left and ends the thread. NULL is allowed. */
void lingering_destroy(struct lingering *lingering);

/* Keeps a copy of the descriptor, which the caller closes, until the peer has closed its side,
 * two seconds at most. Without room for one more nothing happens. Thread-safe. */
void lingering_add(struct lingering *lingering, int fd);

#endif
