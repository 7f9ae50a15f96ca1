/* SPDX-License-Identifier: MIT */
#include "gpu/front/orphans.h"

#include "core/clock.h"

#define END_NS INT64_C(5000000000) /* the driver takes a tenth of it at most */

void orphans_init(struct orphans *orphans) {
    *orphans = (struct orphans){0};
    pthread_mutex_init(&orphans->lock, NULL);
    clock_init_condition(&orphans->changed);
}

void orphans_finish(struct orphans *orphans) {
    pthread_cond_destroy(&orphans->changed);
    pthread_mutex_destroy(&orphans->lock);
}

void orphans_clear(struct orphans *orphans, uint64_t epoch) {
    pthread_mutex_lock(&orphans->lock);
    orphans->gone = epoch;
    if (orphans->bytes > 0) {
        slot_pool_count(orphans->pool, -(int64_t)orphans->bytes);
        orphans->bytes = 0;
    }
    pthread_cond_broadcast(&orphans->changed);
    pthread_mutex_unlock(&orphans->lock);
}

void orphans_leave(struct orphans *orphans, uint64_t epoch, struct slot *slot, size_t kept) {
    struct error ignored;
    size_t left = 0;
    bool renewed = slot_renew(slot, kept, &left, &ignored) == ST_OK;
    int64_t until = clock_ns() + END_NS;
    pthread_mutex_lock(&orphans->lock);
    while (!renewed && orphans->gone < epoch && clock_ns() < until) {
        clock_wait(&orphans->changed, &orphans->lock, until);
    }
    if (orphans->gone < epoch) {
        orphans->pool = slot->pool;
        orphans->bytes += left; /* until the engine is gone */
    } else {
        slot_pool_count(slot->pool, -(int64_t)left);
    }
    pthread_mutex_unlock(&orphans->lock);
}
