/* SPDX-License-Identifier: MIT
 * A GPU that failed may write to the slots of its runs until its process is gone, which takes the driver 0.1
 * to 0.5 s. The CPU redoes these runs at once, on copies. */
#ifndef BLURD_GPU_FRONT_ORPHANS_H
#define BLURD_GPU_FRONT_ORPHANS_H

#include <pthread.h>

#include "core/slot.h"

/* Engines have numbers in the order of their starts, epochs. */
struct orphans {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t gone;          /* engines up to this epoch are gone */
    size_t bytes;           /* memory that only an engine that is not gone maps */
    struct slot_pool *pool; /* that counts it */
};

void orphans_init(struct orphans *orphans);
void orphans_finish(struct orphans *orphans);

/* Engines up to this epoch are gone. */
void orphans_clear(struct orphans *orphans, uint64_t epoch);

/* To be called after a failure, when the engine of that epoch has been told to end. Gives the slot other
 * memory with a copy of its first `kept` bytes, so that this engine cannot write to it any more. Where
 * slot_renew refuses, waits for the engine's end instead, 5 s at most, and the slot stays as it is.
 * Thread-safe; the caller owns the slot. */
void orphans_leave(struct orphans *orphans, uint64_t epoch, struct slot *slot, size_t kept);

#endif
