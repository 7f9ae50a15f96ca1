/* SPDX-License-Identifier: MIT
 * A pass over the rows of some planes, cut into bands that a crew runs in parallel. */
#ifndef BLURD_CPU_BANDS_H
#define BLURD_CPU_BANDS_H

#include <stddef.h>
#include <stdint.h>

#include "core/crew.h"
#include "core/image.h"
#include "core/producer.h"

/* Rows `from` to `to` - 1 of a plane. Bands with the same seat do not run at the same time. */
struct band {
    unsigned plane;
    uint32_t from, to;
    unsigned seat;
};

/* Picture rows, counted from the top, that rows [0, to) of the pass read or write; all of them for the
 * largest `to`. */
typedef uint32_t bands_reach(const void *context, unsigned plane, uint32_t to);

/* A pass: its rows in each plane (0: none), the cost of a row in filtered samples, and the function that
 * makes a band. */
struct pass {
    uint32_t rows[IMAGE_PLANES_MAX];
    uint64_t cost[IMAGE_PLANES_MAX];
    void (*band)(const void *context, const struct band *band); /* makes a band or a part of one */
    const void *context;
    uint32_t least;      /* rows of a strip at least, as strips do some work twice at their borders */
    int64_t deadline_ns; /* core/deadline.h; looked at every few milliseconds, also within a band */
    /* Optional. bands_follow tells it the rows of the picture that the pass has made, on one seat. */
    const struct progress *progress;
    bands_reach *makes;
};

/* Most bytes that all seats of a run take together, unless one seat alone takes more. */
enum { BANDS_MEMORY = 16 << 20 };

/* The number of seats to run the pass on now, each with `size` bytes. The caller reserves their memory before
 * it calls bands_run. */
unsigned bands_seats(struct crew *crew, const struct pass *pass, size_t size);

/* The largest number that bands_seats returns when `threads` threads are idle. */
unsigned bands_seats_most(unsigned threads, size_t size);

/* Runs the pass and returns when it is done. One seat: plane by plane on the caller. ST_LIMIT at the
 * deadline; then no band runs any more. */
enum status bands_run(struct crew *crew, unsigned seats, const struct pass *pass, struct error *err);

/* The same in strips across all planes, from the top, and with a producer (NULL: the picture is complete)
 * while the picture is being made: a strip begins as soon as there is what it is made of. On one seat the
 * caller has each strip of the picture in its cache when it goes on with it. Fails like the producer, and
 * with ST_LIMIT at the deadline; then no band runs any more. */
enum status bands_follow(struct crew *crew, unsigned seats, const struct pass *pass, bands_reach *reach,
                         const struct producer *producer, struct error *err);

#endif
