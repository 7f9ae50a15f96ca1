/* SPDX-License-Identifier: MIT
 * How many processors this process may really use. */
#ifndef BLURD_CONFIG_CORES_H
#define BLURD_CONFIG_CORES_H

#include <stdint.h>

/* The processors of the affinity mask, but no more than the CPU quota of the control
 * groups that the process is in (rounded up), at least 1. Reads files; call it once. */
uint32_t cores_usable(void);

#endif
