/* SPDX-License-Identifier: MIT */
#include "config/memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "config/cgroup.h"

enum { PATH_SIZE = 600 };

/* Lowers *limit to the number in the file; "max" is none, and so is the huge one of version 1. */
static void lower(uint64_t *limit, const char *folder, const char *name) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    uint64_t bytes;
    if (file && fscanf(file, "%" SCNu64, &bytes) == 1 && bytes < *limit) {
        *limit = bytes;
    }
    if (file) {
        fclose(file);
    }
}

static void visit(const char *folder, void *context) {
    lower(context, folder, "memory.max");            /* version 2 */
    lower(context, folder, "memory.limit_in_bytes"); /* version 1 */
}

uint64_t memory_budget(uint64_t wanted) {
    uint64_t limit = UINT64_MAX, most = (uint64_t)MEMORY_AUTO_MIB << 20,
             least = (uint64_t)MEMORY_MIN_MIB << 20;
    if (wanted > 0) {
        return wanted;
    }
    cgroup_each("memory", visit, &limit);
    uint64_t share = limit / 100 * MEMORY_SHARE;
    return share < least ? least : share < most ? share : most;
}
