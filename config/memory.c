/* SPDX-License-Identifier: MIT */
#include "config/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "config/cgroup.h"

enum { PATH_SIZE = 600 };

/* Lowers *limit to the number in the file. "max" and the huge number of version 1 mean no limit. */
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

static uint64_t ram_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

uint64_t memory_share(uint64_t group, uint64_t ram) {
    uint64_t mib =
        (group < ram ? (group >> 20) * MEMORY_GROUP_PERCENT : (ram >> 20) * MEMORY_RAM_PERCENT) / 100;
    return (mib < MEMORY_MIN_MIB ? MEMORY_MIN_MIB : mib) << 20;
}

uint64_t memory_request_max(uint64_t budget, unsigned connections, unsigned workers) {
    const uint64_t least = UINT64_C(1) << 30;
    uint64_t slots = (uint64_t)connections + (workers < connections ? workers : connections);
    uint64_t share = MEMORY_ADDRESSES / slots;
    uint64_t most = share > least ? share : least;
    return budget < most ? budget : most;
}

uint64_t memory_budget(uint64_t wanted) {
    uint64_t limit = UINT64_MAX;
    if (wanted > 0) {
        return wanted;
    }
    cgroup_each("memory", visit, &limit);
    return memory_share(limit, ram_bytes());
}
