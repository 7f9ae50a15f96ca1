/* SPDX-License-Identifier: MIT */
#include "gpu/engine/transcoder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "gpu/engine/submitter.h"
#include "gpu/gpu.h"

struct gpu_transcoder {
    struct gpu_device *device;
    struct submitter *pump;
    pthread_mutex_t lock; /* guards `idle` and `waiting` */
    sem_t any;            /* counts `idle` */
    unsigned waiting;     /* lanes in `idle`, the most recently used last: warm in the caches */
    struct gpu_lane *idle[GPU_TRANSCODER_PICTURES_MAX];
    unsigned count;
    struct gpu_lane lane[];
};

static struct gpu_lane *take(struct gpu_transcoder *transcoder) {
    while (sem_wait(&transcoder->any) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&transcoder->lock);
    unsigned last = --transcoder->waiting, found = last;
    while (found > 0 && !gpu_lane_is_stale(transcoder->idle[found])) {
        found--;
    }
    found = gpu_lane_is_stale(transcoder->idle[found]) ? found : last; /* memory comes back sooner */
    struct gpu_lane *lane = transcoder->idle[found];
    transcoder->idle[found] = transcoder->idle[last];
    pthread_mutex_unlock(&transcoder->lock);
    return lane;
}

static void give_back(struct gpu_transcoder *transcoder, struct gpu_lane *lane) {
    pthread_mutex_lock(&transcoder->lock);
    transcoder->idle[transcoder->waiting++] = lane;
    pthread_mutex_unlock(&transcoder->lock);
    sem_post(&transcoder->any);
}

/* A lane's means take some milliseconds, so it gets them when it is used first. */
static enum status open_lane(struct gpu_lane *lane, struct gpu_device *device, struct error *err) {
    if (lane->device) {
        return ST_OK;
    }
    enum status status = gpu_lane_init(lane, device, err);
    status = status == ST_OK ? gpu_lane_init_jpeg(lane, err) : status;
    if (status != ST_OK) {
        gpu_lane_finish(lane);
    }
    return status;
}

enum status gpu_transcoder_create(struct gpu_transcoder **transcoder, struct gpu_device *device,
                                  unsigned pictures, struct error *err) {
    pictures = pictures == 0                            ? GPU_PICTURES
               : pictures > GPU_TRANSCODER_PICTURES_MAX ? GPU_TRANSCODER_PICTURES_MAX
                                                        : pictures;
    struct gpu_transcoder *made = calloc(1, sizeof *made + pictures * sizeof made->lane[0]);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    sem_init(&made->any, 0, 0);
    enum status status = gpu_device_enter(device, err);
    for (; made->count < pictures; made->count++) {
        give_back(made, &made->lane[made->count]);
    }
    /* The first one to be used; the others will do if it does. */
    status = status == ST_OK ? open_lane(&made->lane[pictures - 1], device, err) : status;
    status = status == ST_OK ? submitter_create(&made->pump, device, err) : status;
    if (status != ST_OK) {
        gpu_transcoder_destroy(made);
        return status;
    }
    *transcoder = made;
    return ST_OK;
}

void gpu_transcoder_destroy(struct gpu_transcoder *transcoder) {
    if (!transcoder) {
        return;
    }
    submitter_destroy(transcoder->pump);
    for (unsigned i = 0; i < transcoder->count; i++) {
        gpu_lane_finish(&transcoder->lane[i]);
    }
    pthread_mutex_destroy(&transcoder->lock);
    sem_destroy(&transcoder->any);
    free(transcoder);
}

unsigned gpu_transcoder_pictures(const struct gpu_transcoder *transcoder) {
    return transcoder->count;
}

enum status gpu_transcoder_run(struct gpu_transcoder *transcoder, const struct gpu_transcode *job,
                               size_t *size, struct lane_timing *timing, struct error *err) {
    struct gpu_lane *lane = take(transcoder);
    enum status status = open_lane(lane, transcoder->device, err);
    if (status == ST_OK) {
        status = submitter_run(transcoder->pump, lane, job, size, timing, err);
        gpu_lane_settle(lane, status);
    }
    give_back(transcoder, lane);
    return status;
}
