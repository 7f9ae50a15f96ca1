/* SPDX-License-Identifier: MIT
 * Finds memory that shows what another request left in it. In builds with -DPOISON_MEMORY
 * (debug, asan), the environment variable POISON_MEMORY, a number from 0 to 255, is the byte
 * that slots, scratch and device memory are filled with each time before they are used: with
 * two different bytes every answer must be the same. Other builds have none of it. */
#ifndef BLURD_CORE_POISON_H
#define BLURD_CORE_POISON_H

#include <stddef.h>

#ifdef POISON_MEMORY

/* The byte, or -1: nothing is to be filled. */
int poison_byte(void);

/* Fills memory whose content is undefined. */
void poison(void *memory, size_t size);

#else

static inline int poison_byte(void) {
    return -1;
}

static inline void poison(void *memory, size_t size) {
    (void)memory, (void)size;
}

#endif

#endif
