/* SPDX-License-Identifier: MIT
 * The members of a pool, for the files of core/slot.h only. */
#ifndef BLURD_CORE_SLOT_POOL_H
#define BLURD_CORE_SLOT_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SLOT_STEP = 256 << 10, /* step in which memory is committed, and mapped by a GPU's process */
    SLOT_POOL_KINDS = 5,   /* SLOT_KINDS */
};

struct slot;

struct slot_pool {
    pthread_mutex_t lock;
    size_t budget;
    size_t most;      /* limit of one slot, and the size of its mapping */
    size_t bytes;     /* reserved by all slots */
    size_t returning; /* part of `bytes` that is being released */
    pthread_cond_t returned;
    struct slot *idle[SLOT_POOL_KINDS]; /* most recently used first */
    /* Part of `bytes` held by slots in use. Written under the lock; each piece of a body reads it. */
    _Atomic size_t held[SLOT_POOL_KINDS];
    uint64_t made; /* slots created so far */
    int event;
    bool watched; /* slot_pool_trim will be called without the event */
    bool busy;    /* slots were given back since it was called last */
};

#endif
