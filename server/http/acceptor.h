/* SPDX-License-Identifier: MIT
 * A thread that accepts connections and gives each to the event thread that has the fewest. When event
 * threads accept by themselves, the one that wakes first takes most of them (docs/adr/0050). */
#ifndef BLURD_SERVER_HTTP_ACCEPTOR_H
#define BLURD_SERVER_HTTP_ACCEPTOR_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "core/status.h"

struct acceptor;
struct loop;
struct metrics;
struct watchdog;

enum { INTAKES_MAX = 64 }; /* event threads */

/* An accepted connection on its way to an event thread, which then owns the descriptor and frees the struct.
 */
struct arrival {
    struct arrival *next;
    int fd;                          /* does not block, and is closed by exec */
    socklen_t size;                  /* bytes of the address */
    struct sockaddr_storage address; /* of the peer */
};

/* The connections of one event thread. The acceptor adds, the event thread takes. */
struct intake {
    struct loop *loop;               /* of the event thread; woken for each arrival */
    struct arrival *_Atomic arrived; /* the latest one, linked to those before it */
    _Atomic unsigned open;           /* connections, arrivals included */
};

/* The intakes of all event threads of a listener. */
struct intakes {
    unsigned count;        /* does not change once the acceptor has started */
    _Atomic unsigned open; /* connections of all intakes */
    struct intake each[INTAKES_MAX];
};

struct acceptor_options {
    int listen_fd;           /* does not block; the caller closes it after acceptor_close */
    unsigned most;           /* connections that may be open at a time */
    struct intakes *intakes; /* their loops run */
    struct metrics *metrics;
    struct watchdog *watchdog;
};

/* Starts the thread. ST_BUSY without memory, descriptors or threads. */
enum status acceptor_start(struct acceptor **acceptor, const struct acceptor_options *options,
                           struct error *err);

/* Takes all arrivals of the intake, in the order in which they were accepted; NULL when there is none. Called
 * on the event thread. */
struct arrival *intake_take(struct intake *intake);

/* Counts a connection of the intake as closed, and wakes an acceptor that waits for that. Returns how many
 * connections are still open, of all intakes. Thread-safe. `acceptor` may be NULL. */
unsigned intake_release(struct intakes *intakes, struct intake *intake, struct acceptor *acceptor);

/* Stops accepting. When it returns, no further connection arrives. Two threads must not call it at the same
 * time. NULL is allowed. */
void acceptor_close(struct acceptor *acceptor);

/* Ends the thread and frees the acceptor. Called when no connection is open any more. NULL is allowed. */
void acceptor_destroy(struct acceptor *acceptor);

#endif
