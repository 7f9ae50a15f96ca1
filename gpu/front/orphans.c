/* SPDX-License-Identifier: MIT */
#include "gpu/front/orphans.h"

#include "core/clock.h"

#define JOB_TIMEOUT_NS INT64_C(5000000000)

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

static bool is_gone(struct orphans *orphans, uint64_t epoch) {
    pthread_mutex_lock(&orphans->lock);
    bool gone = orphans->gone >= epoch;
    pthread_mutex_unlock(&orphans->lock);
    return gone;
}

/* Counts the memory until the engine is gone. */
static void count(struct orphans *orphans, uint64_t epoch, struct slot_pool *pool, size_t bytes) {
    pthread_mutex_lock(&orphans->lock);
    if (orphans->gone < epoch) {
        orphans->pool = pool;
        orphans->bytes += bytes;
    } else {
        slot_pool_count(pool, -(int64_t)bytes);
    }
    pthread_mutex_unlock(&orphans->lock);
}

static void await_end(struct orphans *orphans, uint64_t epoch) {
    int64_t until = clock_ns() + JOB_TIMEOUT_NS;
    pthread_mutex_lock(&orphans->lock);
    while (orphans->gone < epoch && clock_ns() < until) {
        clock_wait(&orphans->changed, &orphans->lock, until);
    }
    pthread_mutex_unlock(&orphans->lock);
}

void orphans_leave(struct orphans *orphans, uint64_t epoch, struct slot *slot, size_t kept) {
    struct error ignored;
    size_t left = 0;
    if (is_gone(orphans, epoch)) {
        return;
    }
    if (slot_renew(slot, kept, &left, &ignored) == ST_OK) {
        count(orphans, epoch, slot->pool, left);
    } else {
        await_end(orphans, epoch);
    }
}
