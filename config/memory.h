/* SPDX-License-Identifier: MIT
 * How much memory requests may take together. */
#ifndef BLURD_CONFIG_MEMORY_H
#define BLURD_CONFIG_MEMORY_H

#include <stdint.h>

enum { MEMORY_MIN_MIB = 64, MEMORY_AUTO_MIB = 1024, MEMORY_SHARE = 60 /* percent */ };

/* `wanted` bytes; or, where that is 0, MEMORY_SHARE of the memory that the control groups of this process
 * allow, at most MEMORY_AUTO_MIB and at least MEMORY_MIN_MIB. The rest is for connections, threads and the
 * program. Reads files; call it once. */
uint64_t memory_budget(uint64_t wanted);

#endif
