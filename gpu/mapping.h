/* SPDX-License-Identifier: MIT
 * The front's slots as the engine sees them: mapped, and registered with the driver so
 * that copies run at the speed of pinned memory. Registering costs 0.4 ms a MiB on a virtual
 * machine with an H100, more when many do it at once, so it happens once and again only when more of a slot
 * is used than before, or it was given other pages. */
#ifndef BLURD_GPU_MAPPING_H
#define BLURD_GPU_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/driver.h"

struct mappings;

/* NULL without memory. */
struct mappings *mappings_create(const struct cuda *cuda);

/* Unregisters and unmaps everything; a context must be current. NULL is allowed. */
void mappings_destroy(struct mappings *mappings);

/* The memory of slot `serial`: `size` bytes of `fd`, which stays the caller's. Thread-safe;
 * a slot itself is used by one thread at a time. A context must be current. ST_BUSY when it
 * cannot be mapped. Memory that cannot be registered is used unregistered: slower, right. */
enum status mappings_get(struct mappings *mappings, uint64_t serial, uint64_t generation, size_t size, int fd,
                         uint8_t **memory, struct error *err);

#endif
