/* SPDX-License-Identifier: MIT
 * A crew: threads that lend each other a hand while they have nothing else to do.
 *
 * One thread has work that can be cut into parts; those that are waiting right now take some of them. No
 * thread exists for this alone, nobody waits for help to come, and whoever is busy stays undisturbed: with
 * all threads busy a run is a loop on the thread that called it, without a lock.
 *
 * The threads are the members. Each has work of its own (server/queue/workers.c: requests) under the crew's
 * lock:
 *
 *     crew_lock(crew);
 *     while (there is no work of mine) {
 *         if (!crew_help(crew)) {
 *             crew_wait(crew, INT64_MAX);
 *         }
 *     }
 *
 * so that its own work goes first, and is looked for after every part. */
#ifndef BLURD_CORE_CREW_H
#define BLURD_CORE_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum {
    CREW_SEATS_MAX = 64,  /* threads that work on one run */
    CREW_SEAT_PARTS = 3,  /* parts for each of them: one that starts late or is interrupted does fewer */
    CREW_GRAINS_MAX = 16, /* of a part: own work that comes in waits for a part to end, not for a picture */
    CREW_PARTS_MAX = 1024,
    CREW_PAUSE_MAX = 63,
    CREW_GRAIN = 96 << 10, /* see crew_create; about 40 µs of blur, where waking a thread takes 20 */
};

struct crew;
struct crew_gate;

/* Work in parts. Parts begin in ascending order. `seat` is below `seats`, and no two parts that run at the
 * same time have the same: the place for what a part needs memory for. */
struct crew_work {
    enum status (*part)(void *context, unsigned part, unsigned seat, struct error *err);
    void *context;
    unsigned parts;
    unsigned seats; /* 1 to CREW_SEATS_MAX */
    /* Optional: what makes the parts possible. Called once, on the caller's thread; a part begins when
     * crew_open has let it, or when this has returned. */
    enum status (*feed)(void *context, struct crew_gate *gate, struct error *err);
};

/* `grain` is the work that is worth a part, in samples filtered (CREW_GRAIN). Threads that wait are not cores
 * that are free: those may be other processes', and then whoever took a part is late with it. A `wary` crew
 * finds that out: after a run that took longer than its caller alone would have, crew_seats says 1 for the
 * next runs; more of them each time, up to CREW_PAUSE_MAX. NULL without memory. */
struct crew *crew_create(uint32_t grain, bool wary);

/* After its last member has left. NULL is allowed. */
void crew_destroy(struct crew *crew);

/* ---- for those who have work; any thread, member or not. NULL is a crew of nobody ---- */

/* Members that wait now. A guess: it may be another number by the time it is read. */
unsigned crew_idle(struct crew *crew);

/* How many threads so much work is worth now, the caller included, and how many parts for so many. Both are
 * at least 1, and the second is 1 for one seat. */
unsigned crew_seats(struct crew *crew, uint64_t work);
unsigned crew_parts(struct crew *crew, uint64_t work, unsigned seats);

/* Runs all parts, on the caller and on members that wait, and returns when none runs any more. When one
 * fails, those that have not begun never do, and the run fails like the first that did. A part may itself
 * call crew_run.
 *
 * Who waits for whom: a part for nothing, since it begins only when it can be done; a member for parts or
 * work of its own, never for a part that is not open yet; the caller, when it has fed and no part is left,
 * for those who run one. So there is no circle, and whoever feeds may take its time or fail: then it is as if
 * a part had failed, and nobody is at work any more when crew_run returns. */
enum status crew_run(struct crew *crew, const struct crew_work *work, struct error *err);

/* For crew_work.feed: the parts below `parts` may begin. The number must not fall. When nobody helps they run
 * before this returns, while what they are made of is still in the cache. */
void crew_open(struct crew_gate *gate, unsigned parts);

/* ---- for members ---- */

void crew_lock(struct crew *crew);
void crew_unlock(struct crew *crew);

/* Runs one part of somebody's work, unlocked meanwhile; false when there is none. With the lock held. */
bool crew_help(struct crew *crew);

/* Waits for crew_wake or for work, until that time of clock_ns at most (INT64_MAX: for ever); may return
 * without reason. With the lock held. */
void crew_wait(struct crew *crew, int64_t until_ns);

/* Wakes one member that waits, or all. Needs no lock, but what they are woken for is to be told under it. */
void crew_wake(struct crew *crew);
void crew_wake_all(struct crew *crew);

#endif
