/* SPDX-License-Identifier: MIT
 * How much memory requests may take together. */
#ifndef BLURD_CONFIG_MEMORY_H
#define BLURD_CONFIG_MEMORY_H

#include <stdint.h>

enum {
    MEMORY_MIN_MIB = 64,
    MEMORY_GROUP_PERCENT = 60, /* the rest is for connections, threads and the program */
    MEMORY_RAM_PERCENT = 25,   /* the rest is for other programs, among them other daemons, and for files */
};

#define MEMORY_ADDRESSES (UINT64_C(1) << 46) /* half of what a process has on x86-64 */

/* The budget in bytes, whole MiB, that suits a control group with a limit of `group` bytes (UINT64_MAX: none)
 * on a machine with `ram` bytes: MEMORY_GROUP_PERCENT of a limit that is below the machine's memory, else
 * MEMORY_RAM_PERCENT of that; at least MEMORY_MIN_MIB. */
uint64_t memory_share(uint64_t group, uint64_t ram);

/* Bytes that one slot may take of a budget, where each connection may have one for a body and each worker one
 * for a picture (there are no more of these than connections): all of the budget if all slots can have
 * addresses for so much, else their share of MEMORY_ADDRESSES; at least 1 GiB. Without a bound 1024 requests
 * on a machine of 1 TiB had none left. */
uint64_t memory_request_max(uint64_t budget, unsigned connections, unsigned workers);

/* The budget in force, in bytes: `wanted`, or with 0 what memory_share says of this process's control groups
 * and this machine. The machine's whole memory counts, not what is free, so that each start gives the same.
 * Reads files; call it before the sandbox. Thread-safe. */
uint64_t memory_budget(uint64_t wanted);

#endif
