/* SPDX-License-Identifier: MIT */
#include "codecs/small_blocks.h"

#include <stdlib.h>

enum { COUNT = SMALL_BLOCKS_SIZES * SMALL_BLOCKS_EACH };

void small_blocks_take(struct small_blocks *small) {
    for (size_t i = 0; i < COUNT; i++) {
        small->block[i] = malloc(SMALL_BLOCKS_LEAST + i / SMALL_BLOCKS_EACH * SMALL_BLOCKS_STEP);
    }
}

void small_blocks_give(struct small_blocks *small) {
    for (size_t i = 0; i < COUNT; i++) {
        free(small->block[i]);
    }
}
