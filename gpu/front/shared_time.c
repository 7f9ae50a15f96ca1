/* SPDX-License-Identifier: MIT */
#include "gpu/front/shared_time.h"

#include "core/clock.h"

void shared_time_init(struct shared_time *time) {
    *time = (struct shared_time){0};
    pthread_mutex_init(&time->lock, NULL);
}

void shared_time_finish(struct shared_time *time) {
    pthread_mutex_destroy(&time->lock);
}

/* Returns parted_ns now. */
static int64_t change(struct shared_time *time, int runs) {
    pthread_mutex_lock(&time->lock);
    const int64_t now = clock_ns();
    time->parted_ns += time->runs > 0 ? (now - time->since_ns) / time->runs : 0;
    time->since_ns = now;
    time->runs += (unsigned)runs;
    const int64_t parted = time->parted_ns;
    pthread_mutex_unlock(&time->lock);
    return parted;
}

int64_t shared_time_begin(struct shared_time *time) {
    return change(time, 1);
}

int64_t shared_time_end(struct shared_time *time, int64_t begun) {
    return change(time, -1) - begun;
}
