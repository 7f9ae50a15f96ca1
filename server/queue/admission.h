/* SPDX-License-Identifier: MIT
 * Admission control: which request gets a worker, which one waits, and which one is refused at once. The
 * functions are pure: they are told the time, and do not lock, log or count. server/queue/workers.c does that
 * around them.
 *
 *     admission_gate     after the headers: should the body be read?
 *     admission_enter    after the body: queue the job, or refuse it
 *     admission_take     a worker is idle: the next job, to run or to refuse
 *     admission_done     that job is finished
 *
 * There are up to three queues. A job is *large* when its predicted cost is at least LARGE_FACTOR times the
 * typical cost here, and at least LARGE_NS. Small jobs go first. Large jobs run on dedicated workers, which
 * have a lower scheduling priority. When no small job waits, up to half of the general workers take large
 * jobs, too. So a few pictures of 64 MP among thumbnails delay each other, and the thumbnails are not
 * delayed. Where all pictures are large, none counts as large.
 *
 * Where a device with its own codecs can do jobs (`device` is set), those jobs have a third queue, and
 * dedicated workers pass them to the device. The processor feeds the device: a core that computes pictures
 * can cost the device more of them than the core does. General workers therefore leave this queue to a device
 * that is faster than all of them together. Beside a slower device they take the newest job whenever it would
 * wait for the device for longer than the processor needs. While the device is down or stalls (all its
 * workers are busy, and none began or finished a job for ADMISSION_STALL_NS), they take the oldest job.
 *
 * The wait is predicted from the work that is queued and running; the age of the oldest job counts instead
 * where it is longer. A job that would wait for longer than its patience is refused: this alone bounds a
 * burst. When the wait stays at or above `target` for an `interval`, the queue is a standing queue, as in
 * CoDel, and waiting in it helps no request. Until the wait has been below half of the target for four
 * intervals:
 *   - jobs that would wait for longer than the target are refused,
 *   - jobs that have waited for twice the target are dropped,
 *   - the newest job is served first while more jobs wait than can be served in time,
 *   - no large job is admitted.
 *
 * The target is the cost of TARGET_JOBS typical jobs, or of the typical jobs that wait, and at least
 * target_ns. That is short enough that no request waits in vain, and long enough that workers do not run dry
 * between two arrivals. */
#ifndef BLURD_SERVER_QUEUE_ADMISSION_H
#define BLURD_SERVER_QUEUE_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ADMISSION_TARGET_JOBS = 5,
    ADMISSION_INTERVAL_TARGETS = 2, /* an interval is at least so many targets */
    ADMISSION_CALM_INTERVALS = 4,
    ADMISSION_LARGE_FACTOR = 8,
    ADMISSION_RUNNING_SHARE = 2, /* of what runs, a half is still to be done */
};
#define ADMISSION_LARGE_NS INT64_C(100000000)
#define ADMISSION_STALL_NS INT64_C(500000000)
#define ADMISSION_TYPICAL_NS INT64_C(10000000) /* before anything was seen */

/* Why a request got no worker; each is a row of server/metrics.def, in this order. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_MEMORY,   /* the memory budget, or the share of it that bodies may take, is in use */
    REFUSAL_QUEUE,    /* as many wait as the limit `queue` allows, whatever they cost */
    REFUSAL_WAIT,     /* it would wait for longer than its patience */
    REFUSAL_STANDING, /* the queue stands, and it would wait for longer than the target */
    REFUSAL_LARGE,    /* the queue stands, and it is large */
    REFUSAL_AGE,      /* the queue stands, and it has waited for too long */
    REFUSAL_DEADLINE, /* it has waited for as long as it may; also for memory */
    REFUSAL_DRAINING,
    REFUSAL_COUNT
};

/* A request in the queue; a member of it. The caller fills the first part before admission_enter. */
struct job {
    int64_t cost_ns;     /* predicted, of the processor; at least 1 */
    int64_t device_ns;   /* the same of a device; of use with `device` */
    uint64_t bytes;      /* predicted, beside the body */
    int64_t patience_ns; /* how long it may wait */
    bool device;         /* a device can do it; false as soon as a worker without one has taken it */

    struct job *older, *newer;
    int64_t entered_ns;
    bool large;
    bool apart; /* a large one on a worker that is not there for these */
};

enum job_kind { JOB_SMALL, JOB_LARGE, JOB_DEVICE, JOB_KINDS };

/* What a worker is there for. */
enum role { ROLE_ANY, ROLE_LARGE, ROLE_DEVICE };

struct admission_limits {
    unsigned workers;    /* for all jobs */
    unsigned large_only; /* workers for large ones alone */
    unsigned devices;    /* workers that hand jobs to a device */
    bool shared;         /* the others may take such jobs, too */
    unsigned queue;      /* jobs that may wait; 0: any number */
    uint64_t memory;     /* bytes for the jobs that run, together */
    int64_t target_ns, interval_ns;
};

struct job_queue {
    struct job *oldest, *newest;
    unsigned waiting, running;
    int64_t waiting_ns, running_ns; /* predicted */
};

struct admission {
    struct admission_limits limits;
    struct job_queue queue[JOB_KINDS];
    unsigned apart;     /* large ones that run on workers for all */
    uint64_t bytes;     /* predicted, of all that runs */
    int64_t typical_ns; /* the median of what is predicted, roughly */
    int64_t above_ns;   /* since when the wait has been at the target or above; 0: it is not */
    int64_t busy_ns;    /* when it was last above half of the target */
    int64_t device_ns;  /* when the device last took or finished a job */
    bool standing;
    bool device_down; /* the caller's to set: nothing is done by the device now */
};

void admission_init(struct admission *admission, const struct admission_limits *limits);

/* Nanoseconds until a job that comes now to that queue would be begun. */
int64_t admission_wait(const struct admission *admission, enum job_kind kind, int64_t now);

/* Which queue is that of a job that was entered. */
enum job_kind job_kind(const struct job *job);

/* Whether workers without a device may take of its queue now. */
bool admission_overflows(const struct admission *admission, int64_t now);

/* The wait that is too long while the queue stands. */
int64_t admission_target(const struct admission *admission);

/* Before anything is known about the picture. */
enum refusal admission_gate(struct admission *admission, int64_t patience_ns, int64_t now);

/* After REFUSAL_NONE the job is the queue's. */
enum refusal admission_enter(struct admission *admission, struct job *job, int64_t now);

/* The next job for a worker of that role; NULL: nothing for it now. With *refusal
 * other than REFUSAL_NONE it is to be refused, and is done with; else it runs until admission_done. */
struct job *admission_take(struct admission *admission, enum role role, int64_t now, enum refusal *refusal);

void admission_done(struct admission *admission, struct job *job, int64_t now);

/* Takes out all that wait, one a call, to be refused; NULL when there are none. */
struct job *admission_clear(struct admission *admission);

/* How many wait. */
unsigned admission_waiting(const struct admission *admission);

#endif
