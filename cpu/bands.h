/* SPDX-License-Identifier: MIT
 * A pass over the rows of some planes, cut into bands that a crew runs in parallel. */
#ifndef BLURD_CPU_BANDS_H
#define BLURD_CPU_BANDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/crew.h"
#include "core/image.h"
#include "core/producer.h"

/* Rows `from` to `to` - 1 of a plane. `seat` numbers the working memory that the band may use: bands with the
 * same seat do not run at the same time. */
struct band {
    unsigned plane;
    uint32_t from, to;
    unsigned seat;
};

/* How many rows of the picture, from the top, the rows [0, to) of the pass read or write: all of them for the
 * largest `to`. */
typedef uint32_t bands_reach(const void *context, unsigned plane, uint32_t to);

struct pass {
    uint32_t rows[IMAGE_PLANES_MAX];                            /* 0: the plane has no part in the pass */
    uint64_t cost[IMAGE_PLANES_MAX];                            /* of a row, in filtered samples */
    void (*band)(const void *context, const struct band *band); /* makes a band or a part of one */
    const void *context;
    uint32_t least;      /* fewest rows of a strip: strips do some work twice at their borders */
    int64_t deadline_ns; /* core/deadline.h; looked at every few milliseconds, also within a band */
    /* NULL, or told by bands_follow, on one seat, how many rows of the picture are made: see `makes`. */
    const struct progress *progress;
    bands_reach *makes;
};

/* Most bytes that all seats of a run take together, unless one seat alone takes more. */
enum { BANDS_MEMORY = 16 << 20 };

/* The number of seats that the pass can use at this moment, with `size` bytes each. The caller then reserves
 * that memory. */
unsigned bands_seats(struct crew *crew, const struct pass *pass, size_t size);

/* The largest number that bands_seats returns when `threads` threads are idle. */
unsigned bands_seats_most(unsigned threads, size_t size);

/* Runs the pass; with one seat plane by plane on the caller. ST_LIMIT at the deadline. No band runs after the
 * return. */
enum status bands_run(struct crew *crew, unsigned seats, const struct pass *pass, struct error *err);

/* The same in strips across all planes, from the top. With a producer (NULL: the picture is complete) a strip
 * begins as soon as its input rows exist. On one seat the caller finds each strip of the picture in its
 * cache. Fails like the producer, and with ST_LIMIT at the deadline. No band runs after the return. */
enum status bands_follow(struct crew *crew, unsigned seats, const struct pass *pass, bands_reach *reach,
                         const struct producer *producer, struct error *err);

#endif
