/* SPDX-License-Identifier: MIT
 * What malloc keeps of freed small blocks, taken out of the way of a library that reads memory before it
 * writes it: the next picture must not show what an earlier one has left there. */
#ifndef BLURD_CODECS_SMALL_BLOCKS_H
#define BLURD_CODECS_SMALL_BLOCKS_H

/* The sizes, in bytes, and the number of blocks of each that are taken. free() keeps up to seven blocks of
 * each of these sizes for the thread that calls it (tcache_count in glibc's manual), sixteen since
 * glibc 2.42. malloc() returns them unchanged, also with M_PERTURB set. Clearing them would not be enough, as
 * free() writes pointers into them. */
enum { SMALL_BLOCKS_LEAST = 24, SMALL_BLOCKS_STEP = 16, SMALL_BLOCKS_SIZES = 64, SMALL_BLOCKS_EACH = 16 };

struct small_blocks {
    void *block[SMALL_BLOCKS_SIZES * SMALL_BLOCKS_EACH]; /* NULL without memory */
};

/* Takes all that malloc keeps for this thread, half a MiB with some more, in about 50 us. Until they are
 * given back, small blocks are new ones, which M_PERTURB fills, or what this thread frees meanwhile. The
 * caller gives them back in the same thread. Thread-safe. */
void small_blocks_take(struct small_blocks *small);

/* Frees them. */
void small_blocks_give(struct small_blocks *small);

#endif
