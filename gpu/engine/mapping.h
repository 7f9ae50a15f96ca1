/* SPDX-License-Identifier: MIT
 * The front's slots, mapped into the engine and registered with the driver, so that copies run at the
 * speed of pinned memory. Registering costs 0.4 ms per MiB on a virtual machine with an H100, and more
 * when many threads register. So a slot is registered once, and again only when it grows or its pages have
 * changed. */
#ifndef BLURD_GPU_ENGINE_MAPPING_H
#define BLURD_GPU_ENGINE_MAPPING_H

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
 * `fd`, which must be a slot_file, whose size cannot change. A context must be current. ST_BUSY when mapping
 * fails; ST_INTERNAL for another kind of file, or while another run has the slot. Memory that cannot be
 * registered works, but copies are slower. Thread-safe. */
enum status mappings_get(struct mappings *mappings, const struct slot_view *slot, int fd,
                         struct mapping **mapping, uint8_t **memory, struct error *err);

/* Gives the slot back after the run. NULL is allowed. Thread-safe. */
void mappings_put(struct mappings *mappings, struct mapping *mapping);

#endif
