/* SPDX-License-Identifier: MIT
 * How soon an event thread looks again, where the library does not know: while TLS handshakes are under way,
 * and in trouble. libmicrohttpd 0.9.75 takes a connection whose handshake waits for the client for one that
 * is ready: it wants to be called again at once, for as long as the client likes. One thread's; no locks. */
#ifndef BLURD_SERVER_HTTP_PACE_H
#define BLURD_SERVER_HTTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise. */
struct pace {
    unsigned handshakes; /* connections that have not sent a request line yet */
    bool moved;          /* something has come of the round: a request, a part of one, an end */
    int64_t begin;       /* clock_ns */
};

/* Before a round of the library's. */
void pace_begin(struct pace *pace);

/* After it: how many milliseconds to wait, where the library asked for `ms`. Sockets that become ready
 * cut that short, so only a handshake that stands still and the next piece of an answer wait for it. What
 * is spent on rounds in vain is a fifth of a core at most. `troubled`: the library has complained. A
 * listening socket that it took out of its set when descriptors ran out, and then had no memory to put back,
 * wakes nobody; so the next round comes soon. */
int64_t pace_wait(const struct pace *pace, int64_t ms, bool troubled);

#endif
