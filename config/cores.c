/* SPDX-License-Identifier: MIT
 * Containers limit processors in two ways: by affinity (cpuset), which the kernel tells
 * directly, and by quota, which only the control group's files tell. A thread more than
 * the quota allows is throttled, and with it the request that it works on. */
#include "config/cores.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/cgroup.h"
#include "core/numbers.h"

enum { PATH_SIZE = 512 };

static uint32_t affinity_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

/* Quota over period, rounded up; UINT32_MAX for no quota. */
static uint32_t quota_cores(long long quota, long long period) {
    if (quota <= 0 || period <= 0) {
        return UINT32_MAX;
    }
    long long cores = quota / period + (quota % period != 0);
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* Reads two numbers; a missing number or "max" counts as 0, which means no limit. */
static bool read_numbers(const char *path, long long *first, long long *second) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    char text[64] = "";
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    char *rest = text;
    *first = strtoll(text, &rest, 10);
    *second = strtoll(rest, NULL, 10);
    return read;
}

static uint32_t group_cores(const char *folder) {
    char path[PATH_SIZE + 32];
    long long quota = 0;
    long long period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder); /* version 2: "quota period" or "max period" */
    if (read_numbers(path, &quota, &period)) {
        return quota_cores(quota, period);
    }
    long long none = 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder); /* version 1: -1 for none */
    if (!read_numbers(path, &quota, &none)) {
        return UINT32_MAX;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_numbers(path, &period, &none) ? quota_cores(quota, period) : UINT32_MAX;
}

static void visit(const char *folder, void *context) {
    uint32_t *cores = context;
    *cores = min_u32(*cores, group_cores(folder));
}

uint32_t cores_usable(void) {
    uint32_t cores = affinity_cores();
    cgroup_each("cpu", visit, &cores);
    return cores > 0 ? cores : 1;
}
