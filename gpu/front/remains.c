/* SPDX-License-Identifier: MIT */
#include "gpu/front/remains.h"

#include "core/clock.h"

#define PATIENCE_NS INT64_C(5000000000)

void remains_init(struct remains *remains) {
    *remains = (struct remains){0};
    pthread_mutex_init(&remains->lock, NULL);
    clock_init_condition(&remains->changed);
}

void remains_finish(struct remains *remains) {
    pthread_cond_destroy(&remains->changed);
    pthread_mutex_destroy(&remains->lock);
}

void remains_clear(struct remains *remains, uint64_t epoch) {
    pthread_mutex_lock(&remains->lock);
    remains->gone = epoch;
    if (remains->bytes > 0) {
        slot_pool_count(remains->pool, -(int64_t)remains->bytes);
        remains->bytes = 0;
    }
    pthread_cond_broadcast(&remains->changed);
    pthread_mutex_unlock(&remains->lock);
}

static bool is_gone(struct remains *remains, uint64_t epoch) {
    pthread_mutex_lock(&remains->lock);
    bool gone = remains->gone >= epoch;
    pthread_mutex_unlock(&remains->lock);
    return gone;
}

/* Counts the memory until the engine is gone. */
static void count(struct remains *remains, uint64_t epoch, struct slot_pool *pool, size_t bytes) {
    pthread_mutex_lock(&remains->lock);
    if (remains->gone < epoch) {
        remains->pool = pool;
        remains->bytes += bytes;
    } else {
        slot_pool_count(pool, -(int64_t)bytes);
    }
    pthread_mutex_unlock(&remains->lock);
}

static void await_end(struct remains *remains, uint64_t epoch) {
    int64_t until = clock_ns() + PATIENCE_NS;
    pthread_mutex_lock(&remains->lock);
    while (remains->gone < epoch && clock_ns() < until) {
        clock_wait(&remains->changed, &remains->lock, until);
    }
    pthread_mutex_unlock(&remains->lock);
}

void remains_leave(struct remains *remains, uint64_t epoch, struct slot *slot, size_t kept) {
    struct error ignored;
    size_t left = 0;
    if (is_gone(remains, epoch)) {
        return;
    }
    if (slot_renew(slot, kept, &left, &ignored) == ST_OK) {
        count(remains, epoch, slot->pool, left);
    } else {
        await_end(remains, epoch);
    }
}
