/* SPDX-License-Identifier: MIT
 * When an event thread reads a large body. Bodies that wait for a GPU displace each other from the caches,
 * and each takes memory that has to be registered with the GPU. So a thread reads and holds only some bodies
 * at a time, and the others stay with their clients for a moment. A slow client does not delay others.
 * docs/adr/0046-bodies-in-turns.md has the measurements. One thread uses a struct body_throttle, without
 * locks; the caller owns it and the turns, and a turn must leave (body_throttle_end) before it is freed. */
#ifndef BLURD_SERVER_HTTP_BODY_THROTTLE_H
#define BLURD_SERVER_HTTP_BODY_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum body_throttle_state {
    BODY_THROTTLE_NONE,    /* not counted */
    BODY_THROTTLE_WAITING, /* its body is to be read later */
    BODY_THROTTLE_READING, /* for less than TUNED_BODY_READ_NS */
    BODY_THROTTLE_WORKING, /* the body is there and the GPU's answer is not */
    BODY_THROTTLE_STATES
};

/* A member of a connection. Zero-initialise. */
struct body_throttle_turn {
    enum body_throttle_state state;
    int64_t since_ns; /* of waiting or reading */
    struct body_throttle_turn *older, *newer;
};

/* Turns in the order in which they came to the list. */
struct body_throttle_list {
    struct body_throttle_turn *oldest, *newest;
    unsigned count;
};

/* Zero-initialise, then set `limit`. */
struct body_throttle {
    unsigned limit; /* of bodies that are read or worked on; 0: none */
    struct body_throttle_list list[BODY_THROTTLE_STATES];
};

/* The limit for each of so many event threads beside GPUs that do `gpu_concurrency` JPEGs at a time. 0
 * without a GPU: a core needs so much longer for a picture than for its body that turns gain nothing. */
unsigned body_throttle_limit(unsigned gpu_concurrency, unsigned threads);

/* A client is about to send a body. Returns whether to read it now; otherwise body_throttle_next will return
 * the turn. `now_ns` is clock_ns(), here and below. */
bool body_throttle_begin(struct body_throttle *throttle, struct body_throttle_turn *turn, int64_t now_ns);

/* The body is complete, and the GPU will have it. */
void body_throttle_work(struct body_throttle *throttle, struct body_throttle_turn *turn);

/* The request is answered or given up. Allowed in every state. */
void body_throttle_end(struct body_throttle *throttle, struct body_throttle_turn *turn);

/* The next turn whose body may be read now, or with `all` any that waits; it counts as being read from then
 * on. NULL: none. */
struct body_throttle_turn *body_throttle_next(struct body_throttle *throttle, int64_t now_ns, bool all);

/* Milliseconds after which body_throttle_next may return a turn without another call before it; -1: never. */
int64_t body_throttle_wait_ms(const struct body_throttle *throttle, int64_t now_ns);

#endif
