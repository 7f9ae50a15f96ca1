/* SPDX-License-Identifier: MIT
 * Sorting without memory. */
#ifndef BLURD_DETECT_SORT_H
#define BLURD_DETECT_SORT_H

#include <stddef.h>

enum { SORT_ITEM_MAX = 64 /* bytes */ };

/* Sorts `count` items of `size` bytes, at most SORT_ITEM_MAX, in place. `compare` is that of qsort(), which
 * may allocate; this never does. A heapsort: items that compare equal may change places, and the time is
 * bounded by count * log(count) for all contents. Thread-safe for different items. */
void sort_items(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
