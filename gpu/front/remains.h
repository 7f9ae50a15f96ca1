/* SPDX-License-Identifier: MIT
 * A GPU that failed may write to the slots of its runs until its process is gone, which takes the driver 0.1
 * to 0.5 s. The CPU redoes these runs at once, on copies. */
#ifndef BLURD_GPU_FRONT_REMAINS_H
#define BLURD_GPU_FRONT_REMAINS_H

#include <pthread.h>

#include "core/slot.h"

/* Engines have numbers in the order of their starts, epochs. */
struct remains {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t gone;          /* engines up to this epoch are gone */
    size_t bytes;           /* memory that only an engine that is not gone maps */
    struct slot_pool *pool; /* that counts it */
};

void remains_init(struct remains *remains);
void remains_finish(struct remains *remains);

/* Engines up to this epoch are gone. */
void remains_clear(struct remains *remains, uint64_t epoch);

/* Makes sure that the engine of that epoch, which is about to end, writes no more to the slot, of which the
 * first `kept` bytes stay: gives the slot other memory, or waits for the engine's end where slot_renew
 * refuses, 5 s at most. Thread-safe. */
void remains_leave(struct remains *remains, uint64_t epoch, struct slot *slot, size_t kept);

#endif
