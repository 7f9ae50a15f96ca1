/* SPDX-License-Identifier: MIT
 * A lane's working memory: one block that the caller lends for a run, or the lane's own, which grows to the
 * most that was ever needed. Zero-initialise; end with scratch_finish. */
#ifndef BLURD_CPU_SCRATCH_H
#define BLURD_CPU_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct scratch {
    uint8_t *memory; /* aligned to IMAGE_ALIGNMENT */
    size_t size;
    bool lent; /* does not grow */
};

/* Working memory of a pass: `shared` bytes, and `seat` bytes for each thread. */
struct scratch_need {
    size_t shared, seat;
};

size_t scratch_need_bytes(const struct scratch_need *need, unsigned seats);

/* Provides `size` bytes of undefined content. ST_BUSY without memory: the old content is gone, but the
 * scratch is still usable. */
enum status scratch_reserve(struct scratch *scratch, size_t size, struct error *err);

/* The same for `*seats` threads. Lowers the number, down to 1, to what lent memory allows. */
enum status scratch_seats(struct scratch *scratch, const struct scratch_need *need, unsigned *seats,
                          struct error *err);

void scratch_finish(struct scratch *scratch);

#endif
