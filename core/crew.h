/* SPDX-License-Identifier: MIT
 * A crew: threads that help each other while they are idle.
 *
 * One thread has work that is cut into parts; idle threads take some of them. The crew has no threads of its
 * own, a run does not wait for helpers, and busy threads are not interrupted: while all threads are busy, a
 * run is a loop on the calling thread, without a lock.
 *
 * The threads are the members. Each has work of its own (requests, in server/queue/workers.c) under the
 * crew's lock:
 *
 *     crew_lock(crew);
 *     while (there is no work of mine) {
 *         if (!crew_help(crew)) {
 *             crew_wait(crew, INT64_MAX);
 *         }
 *     }
 *
 * Own work goes first: a member looks for it after every part. */
#ifndef BLURD_CORE_CREW_H
#define BLURD_CORE_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum {
    CREW_SEATS_MAX = 64,  /* threads that work on one run */
    CREW_SEAT_PARTS = 3,  /* parts for each seat: a thread that starts late or is interrupted runs fewer */
    CREW_GRAINS_MAX = 16, /* grains of a part: new requests wait until a part ends, not a picture */
    CREW_PARTS_MAX = 1024,
    CREW_PARTS_OPENED = INT32_MAX, /* see crew_work.parts */
    CREW_PAUSE_MAX = 63,
};

struct crew;
struct crew_gate;

/* Work in parts. Parts begin in ascending order. `seat` is below `seats`; parts that run at the same time
 * have different seats, so that a seat can have memory of its own. The caller has seat 0. */
struct crew_work {
    enum status (*part)(void *context, unsigned part, unsigned seat, struct error *err);
    void *context;
    unsigned parts; /* CREW_PARTS_OPENED: as many as the feed has opened when it returns */
    unsigned seats; /* 1 to CREW_SEATS_MAX */
    /* Optional: makes the input of the parts. Called once, on the caller's thread. A part begins after
     * crew_open has opened it, or after this function has returned. */
    enum status (*feed)(void *context, struct crew_gate *gate, struct error *err);
    bool ahead; /* members take its parts before those of older runs, as these wait for them */
};

/* `grain` is the least work of a part, in samples filtered (TUNED_GRAIN). An idle thread is not a free
 * core: other processes may use the core, and then the helper finishes its part late. A `wary` crew backs
 * off when help made a run slower than working alone: crew_seats returns 1 for the next runs, each time
 * for more of them, up to CREW_PAUSE_MAX. NULL without memory. */
struct crew *crew_create(uint32_t grain, bool wary);

/* Called after the last member has left. NULL is allowed. */
void crew_destroy(struct crew *crew);

/* ---- for threads with work, members or not; a crew that is NULL has no members ---- */

/* Idle members. The number may change at any time. */
unsigned crew_idle(struct crew *crew);

/* The number of threads, caller included, that are worth using for so much work now, and the number of
 * parts for so many seats. Both are at least 1; one seat gets one part. */
unsigned crew_seats(struct crew *crew, uint64_t work);
unsigned crew_parts(struct crew *crew, uint64_t work, unsigned seats);

/* Runs all parts, on the caller and on idle members, and returns when no part runs any more. After a part
 * fails no further part begins, and the run fails like the first part that failed. A part may call crew_run,
 * and so may a feed.
 *
 * There is no deadlock: a part waits for nothing, since it begins only after it was opened; a member waits
 * for open parts or own work; the caller, once its feed has returned and no part is left, waits for parts
 * that run. A feed may be slow or fail; its failure counts like that of a part. */
enum status crew_run(struct crew *crew, const struct crew_work *work, struct error *err);

/* Nanoseconds, since the calling thread began, that helpers have computed in its calls of crew_run while it
 * did not. An estimate for each call: how much longer one helper computed than the caller, or how long only
 * helpers were left, whichever is more. */
int64_t crew_helped_ns(void);

/* Called by crew_work.feed: the parts below `parts` may begin. The number never decreases. Without helpers
 * the parts run before this returns, while their input is still in the cache. */
void crew_open(struct crew_gate *gate, unsigned parts);

/* ---- for members ---- */

void crew_lock(struct crew *crew);
void crew_unlock(struct crew *crew);

/* Runs one part of another thread's work, unlocked meanwhile; false when there is none. With the lock
 * held. */
bool crew_help(struct crew *crew);

/* Waits for crew_wake or for work, at most until `until_ns` on the clock of clock_ns (INT64_MAX: for
 * ever). Wakes up spuriously, too. With the lock held. */
void crew_wait(struct crew *crew, int64_t until_ns);

/* Wakes one idle member, or all. Needs no lock, but the reason must have been stored under it. */
void crew_wake(struct crew *crew);
void crew_wake_all(struct crew *crew);

#endif
