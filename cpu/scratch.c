/* SPDX-License-Identifier: MIT */
#include "cpu/scratch.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/image.h"
#include "core/poison.h"

size_t scratch_need_bytes(const struct scratch_need *need, unsigned seats) {
    return need->shared + seats * need->seat;
}

void scratch_finish(struct scratch *scratch) {
    if (!scratch->lent) {
        free(scratch->memory);
    }
    *scratch = (struct scratch){0};
}

enum status scratch_reserve(struct scratch *scratch, size_t size, struct error *err) {
    if (size <= scratch->size) {
        poison(scratch->memory, size);
        return ST_OK;
    }
    if (scratch->lent) {
        return fail(err, ST_INTERNAL, "the filter was lent %zu bytes to work in and takes %zu", scratch->size,
                    size);
    }
    scratch_finish(scratch);
    size_t rounded = bytes_align_up(size, IMAGE_ALIGNMENT);
    scratch->memory = rounded >= size ? aligned_alloc(IMAGE_ALIGNMENT, rounded) : NULL;
    if (!scratch->memory) {
        return fail(err, ST_BUSY, "no memory for the filter now");
    }
    scratch->size = rounded;
    poison(scratch->memory, size);
    return ST_OK;
}

enum status scratch_seats(struct scratch *scratch, const struct scratch_need *need, unsigned *seats,
                          struct error *err) {
    while (scratch->lent && *seats > 1 && scratch_need_bytes(need, *seats) > scratch->size) {
        --*seats;
    }
    return scratch_reserve(scratch, scratch_need_bytes(need, *seats), err);
}
