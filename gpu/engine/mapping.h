/* SPDX-License-Identifier: MIT
 * The front's slots, mapped into the engine and registered with the driver, so that copies run at the
 * speed of pinned memory. Registering takes long (core/tuned.h), and longer when many threads
 * register; all other calls of the driver wait meanwhile. So a slot is registered once, and
 * again only when it grows or its pages have changed. One thread registers slots that are not large, and
 * pauses as long as each takes. It also releases the memory that slots have grown out of. Up to
 * TUNED_GPU_OUTGROWN_BYTES wait for that. They cost nothing while the slots still have these pages; pages
 * that the front has taken back meanwhile stay in use until then. Until a slot is registered, the bytes of
 * JPEGs go through a stream's own pinned memory (gpu/engine/transcoder.h), and pixels through the driver's.
 *
 * Registering everything once at the start would be simpler, but at 0.4 ms per MiB even 1 GiB of the option
 * memory would hold up the first pictures for 0.4 s. It would also pin pages that no slot uses: slots have no
 * fixed size, begin empty and lose their pages while the daemon is idle. */
#ifndef BLURD_GPU_ENGINE_MAPPING_H
#define BLURD_GPU_ENGINE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/cuda/driver.h"

struct mappings;
struct mapping;

/* NULL without memory. */
struct mappings *mappings_create(const struct cuda *cuda);

/* Unregisters and unmaps everything; a context must be current. NULL is allowed. */
void mappings_destroy(struct mappings *mappings);

/* A slot as the front describes it. */
struct slot_view {
    uint64_t serial, generation; /* as of struct slot */
    uint64_t span;               /* bytes in use */
};

/* Takes the slot for one run and stores the address of its memory: `span` bytes of `fd`. The caller keeps
 * `fd`, which must be a slot_file, whose size cannot change. A context must be current. `later`: the run does
 * not need registered memory. ST_BUSY when mapping fails; ST_INTERNAL for another kind of file, or while
 * another run has the slot. Memory that is not registered works, but copies are slower. Thread-safe. */
enum status mappings_get(struct mappings *mappings, const struct slot_view *slot, bool later, int fd,
                         struct mapping **mapping, uint8_t **memory, struct error *err);

/* Registers slots of runs that did not need it, one after the other, until mappings_leave. One thread at a
 * time, with a current context; without such a thread every run registers its slot. */
void mappings_attend(struct mappings *mappings);

/* Lets mappings_attend return. Thread-safe. */
void mappings_leave(struct mappings *mappings);

/* Whether a large slot is being registered, while all other calls of the driver wait, or whether a run has
 * one that is not registered, so that its calls take as long as the copies. Thread-safe. */
bool mappings_are_busy(const struct mappings *mappings);

/* Gives the slot back after the run. NULL is allowed. Thread-safe. */
void mappings_put(struct mappings *mappings, struct mapping *mapping);

#endif
