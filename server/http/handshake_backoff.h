/* SPDX-License-Identifier: MIT
 * Limits how often an event thread calls libmicrohttpd while TLS handshakes are under way.
 * libmicrohttpd 0.9.75 treats a connection whose handshake waits for the client as ready and wants to be
 * called again at once, for as long as the client stays silent. Used by one thread, without locks. */
#ifndef BLURD_SERVER_HTTP_HANDSHAKE_BACKOFF_H
#define BLURD_SERVER_HTTP_HANDSHAKE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise. */
struct handshake_backoff {
    unsigned handshakes; /* connections without a request line so far */
    bool moved;          /* this round made progress: a request, or a part of one */
    int64_t begin;       /* clock_ns */
};

/* To be called before each round of the library. */
void handshake_backoff_begin(struct handshake_backoff *backoff);

/* Returns how many milliseconds to wait after a round, when the library asked for `ms`. A socket that becomes
 * ready ends the wait, so it delays only stalled handshakes and the next piece of an answer. Rounds without
 * progress take at most a fifth of a core. */
int64_t handshake_backoff_wait(const struct handshake_backoff *backoff, int64_t ms);

#endif
