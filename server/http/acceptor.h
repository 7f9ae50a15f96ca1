/* SPDX-License-Identifier: MIT
 * Accepts connections and hands each to the event thread that has the fewest. Threads that accept by
 * themselves share connections badly: the first that wakes takes most (docs/adr/0050). */
#ifndef BLURD_SERVER_HTTP_ACCEPTOR_H
#define BLURD_SERVER_HTTP_ACCEPTOR_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "core/status.h"

struct acceptor;
struct loop;
struct metrics;
struct watchdog;

enum { INTAKES_MAX = 64 };

/* A connection on its way to an event thread. Its thread frees it. */
struct arrival {
    struct arrival *next;
    int fd;
    socklen_t size;
    struct sockaddr_storage address;
};

/* What an event thread gets. */
struct intake {
    struct loop *loop;               /* woken for each arrival */
    struct arrival *_Atomic arrived; /* the latest, then those before it */
    _Atomic unsigned open;           /* connections, arrivals included */
};

struct intakes {
    unsigned count;
    _Atomic unsigned open; /* of all */
    struct intake each[INTAKES_MAX];
};

struct acceptor_options {
    int listen_fd;           /* does not block; the caller closes it, after acceptor_destroy */
    unsigned most;           /* connections open at a time */
    struct intakes *intakes; /* with their loops, which run */
    struct metrics *metrics;
    struct watchdog *watchdog;
};

/* Starts the thread. ST_BUSY without memory, descriptors or threads. */
enum status acceptor_start(struct acceptor **acceptor, const struct acceptor_options *options,
                           struct error *err);

/* Takes all that has arrived, in the order in which it came; NULL: nothing has. */
struct arrival *intake_take(struct intake *intake);

/* To be called when a connection has ended. Returns how many are left. Thread-safe; `acceptor` may be NULL.
 */
unsigned intake_left(struct intakes *intakes, struct intake *intake, struct acceptor *acceptor);

/* Accepts no more connections when it returns. One caller at a time. NULL is allowed, here and below. */
void acceptor_close(struct acceptor *acceptor);

/* Ends the thread. No connection is left that may end. */
void acceptor_destroy(struct acceptor *acceptor);

#endif
