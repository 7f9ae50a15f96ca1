/* SPDX-License-Identifier: MIT
 * What malloc keeps of freed small blocks, taken out of the way of a library that reads memory before it
 * writes it: the next picture must not show what an earlier one has left there. */
#ifndef BLURD_CODECS_SMALL_BLOCKS_H
#define BLURD_CODECS_SMALL_BLOCKS_H

/* glibc hands blocks of 24 to 1032 bytes out again as they were freed, whatever mallopt's M_PERTURB says:
 * seven of each of these sizes for each thread (tcache_count in its manual), sixteen since glibc 2.42.
 * Clearing them would not do: glibc writes its own pointers into freed blocks. */
enum { SMALL_BLOCKS_LEAST = 24, SMALL_BLOCKS_STEP = 16, SMALL_BLOCKS_SIZES = 64, SMALL_BLOCKS_EACH = 16 };

struct small_blocks {
    void *block[SMALL_BLOCKS_SIZES * SMALL_BLOCKS_EACH]; /* NULL without memory */
};

/* Takes all that malloc keeps for this thread, half a MiB with some more, in about 50 us. Until they are
 * given back, small blocks are new ones, which M_PERTURB fills, or what this thread frees meanwhile. */
void small_blocks_take(struct small_blocks *small);
void small_blocks_give(struct small_blocks *small);

#endif
