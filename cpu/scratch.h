/* SPDX-License-Identifier: MIT
 * A lane's working memory: one block that grows to the most that was ever needed, so that a warm
 * lane does not allocate. Zero-initialise; end with scratch_finish. */
#ifndef BLURD_CPU_SCRATCH_H
#define BLURD_CPU_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct scratch {
    uint8_t *memory; /* aligned to IMAGE_ALIGNMENT */
    size_t size;
};

/* Makes sure of `size` bytes, whose content is undefined. ST_BUSY without memory; what was there
 * is then gone, but the scratch is still usable. */
enum status scratch_reserve(struct scratch *scratch, size_t size, struct error *err);

void scratch_finish(struct scratch *scratch);

#endif
