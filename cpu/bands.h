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

/* The rows of the picture, from the top, that rows below `to` of the pass's plane are made of, or make; for
 * `to` as large as can be, all. */
typedef uint32_t bands_reach(const void *context, unsigned plane, uint32_t to);

/* A pass: how many rows it has in each plane (0: none), what each of them costs in samples that are filtered,
 * and what makes a band of them. */
struct pass {
    uint32_t rows[IMAGE_PLANES_MAX];
    uint64_t cost[IMAGE_PLANES_MAX];
    void (*band)(const void *context, const struct band *band); /* may get a part of a band */
    const void *context;
    uint32_t least;      /* rows of a strip: what strips do twice at their borders stays little */
    int64_t deadline_ns; /* core/deadline.h; looked at every few milliseconds, also within a band */
    /* Optional. bands_follow tells it the rows of the picture that the pass has made, on one seat. */
    const struct progress *progress;
    bands_reach *makes;
};

/* What the seats of a run take together, unless one alone takes more. */
enum { BANDS_MEMORY = 16 << 20 };

/* Seats that the pass is worth now, each of which takes `size` bytes: for bands_run, and to reserve the
 * memory before it. */
unsigned bands_seats(struct crew *crew, const struct pass *pass, size_t size);

/* The same for so many threads that wait, however much there is to do. */
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
