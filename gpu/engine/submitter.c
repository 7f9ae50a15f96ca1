/* SPDX-License-Identifier: MIT */
#include "gpu/engine/submitter.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/clock.h"
#include "core/tuned.h"

enum { ACTIVE_MAX = 256, SLACK_NS = 1000 };

enum submission_stage { RUNNING, FETCHING, OVER };

/* A job with its stream. Once submitted, it belongs to the submitter's thread until it is over. */
struct submission {
    struct submission *next;
    struct jpeg_stream *jpeg;
    const struct transcode *job;
    enum submission_stage stage;
    struct hang_detector_watch watch;
    int64_t began; /* clock_ns */
    int64_t took;  /* nanoseconds, until the fence was reached */
    size_t size;
    struct error err;
    sem_t over;
};

struct queue {
    struct submission *first, **last;
};

struct submitter {
    struct gpu_device *device;
    pthread_t thread;
    bool started;
    /* for the submitter's thread only */
    struct submission *active[ACTIVE_MAX];
    unsigned count;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t arrival;
    struct queue arrived;
    bool closing;
};

static void queue_push(struct queue *queue, struct submission *submission) {
    submission->next = NULL;
    *queue->last = submission;
    queue->last = &submission->next;
}

static struct submission *queue_pop(struct queue *queue) {
    struct submission *submission = queue->first;
    if (submission) {
        queue->first = submission->next;
        queue->last = queue->first ? queue->last : &queue->first;
    }
    return submission;
}

static void take(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

/* ---- the submitter's thread ---- */

static void begin(struct submitter *submitter, struct submission *submission) {
    const struct hang_detector_work work = jpeg_stream_work(submission->job);
    struct hang_detector *detector = &submitter->device->detector;
    hang_detector_begin(detector, &submission->watch, &work, clock_ns());
    bool good = jpeg_stream_begin(submission->jpeg, submission->job, &submission->err) == ST_OK;
    submission->stage = good ? RUNNING : OVER;
    submission->began = clock_ns();
    hang_detector_handed(detector, &submission->watch, submission->began);
    submitter->active[submitter->count++] = submission;
}

/* Begins arrived submissions, and waits for one when none is active. Returns whether any began. */
static bool admit(struct submitter *submitter) {
    bool any = false;
    pthread_mutex_lock(&submitter->lock);
    while (submitter->count == 0 && !submitter->arrived.first && !submitter->closing) {
        pthread_cond_wait(&submitter->arrival, &submitter->lock);
    }
    while (submitter->count < ACTIVE_MAX && submitter->arrived.first) {
        struct submission *submission = queue_pop(&submitter->arrived);
        pthread_mutex_unlock(&submitter->lock);
        begin(submitter, submission);
        any = true;
        pthread_mutex_lock(&submitter->lock);
    }
    pthread_mutex_unlock(&submitter->lock);
    return any;
}

static enum submission_stage end(struct submission *submission) {
    bool good =
        jpeg_stream_end(submission->jpeg, submission->job, &submission->size, &submission->err) == ST_OK;
    return good && !gpu_stream_reached(&submission->jpeg->stream) ? FETCHING : OVER;
}

/* Advances the submission when its fence is reached, or will never be. */
static bool advance(struct submitter *submitter, struct submission *submission) {
    const struct gpu_stream *stream = &submission->jpeg->stream;
    if (submission->stage != OVER && !gpu_stream_reached(stream)) {
        if (gpu_stream_check(stream, &submission->watch, &submission->err) == ST_OK) {
            return false;
        }
        submission->stage = OVER;
        return true;
    }
    if (submission->stage == RUNNING) {
        submission->took = clock_ns() - submission->began;
        hang_detector_complete(&submitter->device->detector, &submission->watch);
    }
    submission->stage = submission->stage == RUNNING ? end(submission) : OVER;
    return true;
}

static bool advance_all(struct submitter *submitter) {
    bool any = false;
    for (unsigned i = 0; i < submitter->count;) {
        struct submission *submission = submitter->active[i];
        any = advance(submitter, submission) || any;
        if (submission->stage == OVER) {
            submitter->active[i] = submitter->active[--submitter->count];
            hang_detector_end(&submitter->device->detector, &submission->watch);
            sem_post(&submission->over); /* the submission may be freed now */
        } else {
            i++;
        }
    }
    return any;
}

static void *submitter_main(void *argument) {
    struct submitter *submitter = argument;
    struct error ignored;
    prctl(PR_SET_NAME, "blurd-submit");
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    gpu_device_enter(submitter->device, &ignored); /* the first picture reports a failure */
    for (;;) {
        bool moved = admit(submitter);
        if (submitter->count == 0 && !moved) {
            return NULL; /* closing */
        }
        if (!advance_all(submitter) && !moved) {
            nanosleep(&(struct timespec){.tv_nsec = TUNED_GPU_SUBMITTER_LOOK_NS}, NULL);
        }
    }
}

/* ---- any thread ---- */

enum status submitter_create(struct submitter **submitter, struct gpu_device *device, struct error *err) {
    struct submitter *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    made->arrived.last = &made->arrived.first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->arrival, NULL);
    int error = pthread_create(&made->thread, NULL, submitter_main, made);
    made->started = error == 0;
    if (error) {
        submitter_destroy(made);
        return fail(err, ST_BUSY, "cannot start a thread: %s", strerror(error));
    }
    *submitter = made;
    return ST_OK;
}

void submitter_destroy(struct submitter *submitter) {
    if (!submitter) {
        return;
    }
    pthread_mutex_lock(&submitter->lock);
    submitter->closing = true;
    pthread_cond_signal(&submitter->arrival);
    pthread_mutex_unlock(&submitter->lock);
    if (submitter->started) {
        pthread_join(submitter->thread, NULL);
    }
    pthread_mutex_destroy(&submitter->lock);
    pthread_cond_destroy(&submitter->arrival);
    free(submitter);
}

/* Hands it to the submitter's thread and waits until it is over. */
static enum status submit(struct submitter *submitter, struct submission *submission, struct error *err) {
    sem_init(&submission->over, 0, 0);
    pthread_mutex_lock(&submitter->lock);
    queue_push(&submitter->arrived, submission);
    pthread_cond_signal(&submitter->arrival);
    pthread_mutex_unlock(&submitter->lock);
    take(&submission->over);
    sem_destroy(&submission->over);
    if (submission->err.status != ST_OK) {
        *err = submission->err;
    }
    return submission->err.status;
}

enum status submitter_run(struct submitter *submitter, struct jpeg_stream *jpeg, const struct transcode *job,
                          size_t *size, struct lane_timing *timing, struct error *err) {
    struct submission submission = {.jpeg = jpeg, .job = job};
    enum status status = jpeg_stream_parse(jpeg, job, err);
    status = status == ST_OK ? submit(submitter, &submission, err) : status;
    *size = submission.size;
    *timing = jpeg_stream_timing(jpeg, submission.took);
    return status;
}
