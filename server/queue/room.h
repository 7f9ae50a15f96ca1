/* SPDX-License-Identifier: MIT
 * How the option memory is divided among bodies and running jobs, so that no request makes others wait for
 * memory that it does not need itself (docs/adr/0057). The functions are pure and do not lock.
 *
 * A third of the budget is for bodies, two thirds are for jobs. A job begins only where a quarter of its own
 * size stays free in the jobs' part: whatever runs, there is room for jobs of a fraction of its size.
 *
 * A job too large for that is a *lone* job, which takes from the bodies' part as well. Half of what it leaves
 * free is for other jobs, half for other bodies. It begins when the others hold no more than that, and one
 * lone job runs at a time. A request that needs more than room_most can never run beside others, so it is
 * refused for good. */
#ifndef BLURD_SERVER_QUEUE_ROOM_H
#define BLURD_SERVER_QUEUE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
    uint64_t budget;    /* bytes for bodies and jobs together */
    uint64_t bodies;    /* bytes that all bodies hold; the caller keeps the number up to date */
    uint64_t bytes;     /* predicted bytes of the running jobs other than the lone one */
    uint64_t lone;      /* predicted bytes of the lone job, without its body; 0: none runs */
    uint64_t lone_body; /* bytes of its body */
};

/* The most bytes that one request may take, its body included; and the most of one body. */
uint64_t room_most(uint64_t budget);
uint64_t room_most_body(uint64_t budget);

/* Whether a job of that size takes from the bodies' part. */
bool room_is_lone(uint64_t budget, uint64_t bytes);

/* Whether a job with such a body may begin now. */
bool room_fits(const struct room *room, uint64_t bytes, uint64_t body);

/* A running job needs more than the predicted *bytes. Returns whether it may have that. A quarter more is
 * within what every job leaves free, and stays uncounted, since estimates are near but not exact. Beyond that
 * others must leave as much, which is counted then. */
bool room_grow(struct room *room, uint64_t *bytes, uint64_t needed, uint64_t body);

/* A job begins; a job of as many bytes ends. */
void room_take(struct room *room, uint64_t bytes, uint64_t body);
void room_give(struct room *room, uint64_t bytes);

/* The most bytes that all bodies together may hold now. */
uint64_t room_for_bodies(const struct room *room);

#endif
