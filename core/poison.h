/* SPDX-License-Identifier: MIT
 * Exposes memory that leaks between requests. In builds with -DPOISON_MEMORY (debug, asan), slots, scratch
 * and device memory are filled before each use with the byte in the environment variable POISON_MEMORY (0
 * to 255): every answer must be the same with two different bytes. Other builds omit it. */
#ifndef BLURD_CORE_POISON_H
#define BLURD_CORE_POISON_H

#include <stddef.h>

#ifdef POISON_MEMORY

/* The byte, or -1 for none. */
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
