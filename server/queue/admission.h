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
 * There are up to four queues: of small jobs, of large jobs, and two of jobs for a device with its own
 * codecs. The way that a job takes (server/ways.def) decides the queue. A job comes with a way for general
 * workers, and may come with ways of the device, each with a predicted time and memory.
 *
 * *Small and large jobs.* A job is *large* when its predicted cost is at least LARGE_FACTOR times the typical
 * cost of what was served here, and at least LARGE_NS. Large jobs run on dedicated workers alone, which have
 * a lower scheduling priority: a general worker could not lower its own for one job, as raising it again
 * takes a right. So a few pictures of 64 MP among thumbnails delay each other, and the thumbnails are not
 * delayed. Where all pictures are large, none counts as large.
 *
 * *The device's jobs.* On WAY_GPU_FILE the device does the whole of a job. Dedicated workers pass these jobs
 * to the device, one for each job that it does at a time. The caller sets that way for a job that the device
 * does sooner, or that is configured to go there. An idle core does most other jobs that have the way sooner,
 * since they are small, but all cores together do fewer of them in a second than the device. So
 * admission_enter sets the way of such a job while another small job waits or runs, unless handing the job
 * over takes a core as long as the job itself, all workers together are faster than the device, or the device
 * has a long queue. The processor feeds the device: a core that computes pictures can cost the device more of
 * them than the core does. General workers therefore leave this queue to a device that is faster than all of
 * them together. Beside a slower device they take the newest job whenever it would wait for the device for
 * longer than the processor needs. While the device is down or stalls (all its workers are busy, and none
 * began or finished a job for ADMISSION_STALL_NS), they take the oldest job.
 *
 * *Entropy decoding.* A job with WAY_GPU_SCANS has a file whose scans either a core or the device can decode,
 * and the device does the rest. A core decodes one file after the other, and each of them sooner. The device
 * takes longer for a file, but decodes hundreds at a time and needs no core for it. So general workers decode
 * while few such files are in progress: the job takes WAY_GPU_COEFFICIENTS then, and counts in `decoding` as
 * long as it waits or runs. The device decodes the file instead when half of the general workers have such
 * jobs already, when small jobs wait and no general worker is idle, or when nothing is `shared`. The worker
 * that passes it on sleeps meanwhile. The choice is made once, on entry. Only while the device is down do
 * general workers take jobs from that queue, the oldest first.
 *
 * *Memory.* A job begins when room.h has memory for it; until then later jobs that need less pass it. A lone
 * job also waits until all jobs that came before it have begun.
 *
 * The wait is predicted from the work that is queued and running; the age of the oldest job counts instead
 * where it is longer. A job that would wait for longer than max_wait_ns is refused: this alone bounds a
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

#include "server/metrics.h"
#include "server/queue/room.h"

enum {
    ADMISSION_TARGET_JOBS = 5,
    ADMISSION_INTERVAL_TARGETS = 2, /* an interval is at least so many targets */
    ADMISSION_CALM_INTERVALS = 4,
    ADMISSION_LARGE_FACTOR = 8,
    ADMISSION_RUNNING_SHARE = 2, /* running jobs are half done on average */
};
/* A job that a core would do sooner waits for the device at most so much longer than for a core. */
#define ADMISSION_SPARING_NS INT64_C(100000000)
#define ADMISSION_LARGE_NS INT64_C(100000000)
#define ADMISSION_STALL_NS INT64_C(500000000)
#define ADMISSION_TYPICAL_NS INT64_C(10000000) /* initial value */

/* Why a request got no worker; each is a row of server/metrics.def, in this order. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_MEMORY,   /* the memory budget or the bodies' share of it is in use */
    REFUSAL_QUEUE,    /* `queue` jobs are waiting */
    REFUSAL_WAIT,     /* it would wait for longer than max_wait_ns */
    REFUSAL_STANDING, /* the queue stands, and it would wait for longer than the target */
    REFUSAL_LARGE,    /* the queue stands, and it is large */
    REFUSAL_AGE,      /* the queue stands, and it has waited for too long */
    REFUSAL_DEADLINE, /* it has waited for max_wait_ns, for a worker or memory */
    REFUSAL_DRAINING,
    REFUSAL_COUNT
};

enum job_kind { JOB_SMALL, JOB_LARGE, JOB_DEVICE, JOB_ENTROPY_DECODE, JOB_KINDS };

/* In the order of the kinds of jobs that they are for. */
enum role { ROLE_ANY, ROLE_LARGE, ROLE_DEVICE, ROLE_ENTROPY_DECODE };

/* What a job takes on a way, as predicted. */
struct job_way {
    int64_t ns;     /* time of the worker, a GPU's part included; 0: the job cannot take that way */
    uint64_t bytes; /* memory beside the body; of WAY_GPU_SCANS not more, should a core have to compute */
};

/* A member of a request. The caller fills the first part before admission_enter. */
struct job {
    struct job_way ways[WAY_COUNT]; /* `general`, and those of WAY_GPU_FILE and WAY_GPU_SCANS that the job can
                                       take; each at least 1 ns */
    enum way general;               /* taken by a general worker */
    enum way way;  /* the one it takes: `general`, or WAY_GPU_FILE if the device shall do it. The functions
                      change it to another of the three, see above */
    uint64_t body; /* bytes that the body holds */
    uint64_t most; /* bytes that the request may take, its body included: room_most */
    int64_t max_wait_ns; /* how long it may wait */

    bool served; /* set before admission_done: it was done, so its cost counts for what is typical. Of what is
                    refused a client can send any number */

    struct job *older, *newer;
    int64_t entered_ns;
    enum job_kind kind; /* of the queue where it waits, or counts while it runs */
    enum role role;     /* of the worker that runs it */
};

struct admission_limits {
    unsigned workers;         /* general workers */
    unsigned large_only;      /* workers for large jobs only */
    unsigned devices;         /* workers that pass jobs to the device */
    unsigned entropy_decodes; /* workers that pass files to the device to be decoded; 0: cores decode all */
    bool shared;              /* general workers may take what the device can do */
    unsigned queue;           /* most jobs that may wait; 0: any number */
    uint64_t memory;          /* bytes for bodies and running jobs together: room.h divides them */
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
    unsigned large_on_general; /* large jobs that general workers run */
    unsigned decoding;         /* jobs on WAY_GPU_COEFFICIENTS that wait or run */
    struct room room;          /* the memory of running jobs; the caller sets room.bodies */
    int64_t typical_ns;        /* approximate median of the predicted costs of served jobs */
    int64_t above_ns;          /* since when the wait has reached the target; 0: it is below */
    int64_t busy_ns;           /* when it was last above half of the target */
    int64_t device_ns;         /* when the device last took or finished a job */
    bool standing;
    bool device_down; /* set by the caller while the device does not serve */
};

void admission_init(struct admission *admission, const struct admission_limits *limits);

/* Predicts how many nanoseconds a job that enters this queue now would wait. */
int64_t admission_wait(const struct admission *admission, enum job_kind kind, int64_t now);

/* Whether general workers may take jobs from the device's two queues now. */
bool admission_overflows(const struct admission *admission, int64_t now);

/* The least predicted time of a large job. */
int64_t admission_large_ns(const struct admission *admission);

/* Returns the longest acceptable wait while the queue stands. */
int64_t admission_target(const struct admission *admission);

enum refusal admission_gate(struct admission *admission, int64_t max_wait_ns, int64_t now);

/* Whether admission_gate would let every request pass now, since none would wait. */
bool admission_is_open(const struct admission *admission);

/* After REFUSAL_NONE the queue owns the job. */
enum refusal admission_enter(struct admission *admission, struct job *job, int64_t now);

/* Takes the next job for a worker of that role; NULL: there is none. With a *refusal the caller refuses the
 * job, without admission_done. Otherwise the job runs until admission_done. */
struct job *admission_take(struct admission *admission, enum role role, int64_t now, enum refusal *refusal);

void admission_done(struct admission *admission, struct job *job, int64_t now);

/* Takes any waiting job, which the caller refuses; NULL: none waits. */
struct job *admission_clear(struct admission *admission);

/* Returns the number of waiting jobs. */
unsigned admission_waiting(const struct admission *admission);

#endif
