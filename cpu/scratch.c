/* SPDX-License-Identifier: MIT */
#include "cpu/scratch.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/image.h"
#include "core/poison.h"

void scratch_finish(struct scratch *scratch) {
    free(scratch->memory);
    *scratch = (struct scratch){0};
}

enum status scratch_reserve(struct scratch *scratch, size_t size, struct error *err) {
    if (size <= scratch->size) {
        poison(scratch->memory, size);
        return ST_OK;
    }
    scratch_finish(scratch);
    size_t rounded = align_up(size, IMAGE_ALIGNMENT);
    scratch->memory = rounded >= size ? aligned_alloc(IMAGE_ALIGNMENT, rounded) : NULL;
    if (!scratch->memory) {
        return fail(err, ST_BUSY, "no memory for the filter now");
    }
    scratch->size = rounded;
    poison(scratch->memory, size);
    return ST_OK;
}
