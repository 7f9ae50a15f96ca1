/* SPDX-License-Identifier: MIT
 * Containers limit processors in two ways: by affinity (cpuset), which the kernel tells
 * directly, and by quota, which only the control group's files tell. A thread more than
 * the quota allows is throttled, and with it the request that it works on. */
#include "config/cores.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads two numbers; what is missing or no number ("max") counts as 0, which means none. */
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

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The least quota from `base`/`group` up to `base`: each ancestor limits its children. */
static uint32_t tree_cores(const char *base, const char *group) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s%s", base, group) >= (int)sizeof path) {
        return group_cores(base);
    }
    uint32_t cores = UINT32_MAX;
    size_t floor = strlen(base);
    for (;;) {
        cores = smaller(cores, group_cores(path));
        char *slash = strrchr(path, '/');
        if (!slash || (size_t)(slash - path) < floor || strlen(path) <= floor) {
            return cores;
        }
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup are "0::/path" (version 2) or "4:cpu,cpuacct:/path". Inside
 * a container the path may be the host's, which is not visible: then only the root of
 * the tree, which is the container's own group, has the files. */
static uint32_t cgroup_cores(void) {
    uint32_t cores = smaller(group_cores("/sys/fs/cgroup"), group_cores("/sys/fs/cgroup/cpu"));
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) {
        return cores;
    }
    char line[PATH_SIZE];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || strstr(group, "/..")) {
            continue;
        }
        *group++ = '\0';
        if (controllers[1] == '\0') {
            cores = smaller(cores, tree_cores("/sys/fs/cgroup", group));
        } else if (strncmp(controllers + 1, "cpu", 3) == 0 && strcmp(controllers + 1, "cpuset") != 0) {
            cores = smaller(cores, tree_cores("/sys/fs/cgroup/cpu", group));
        }
    }
    fclose(file);
    return cores;
}

uint32_t cores_usable(void) {
    uint32_t cores = smaller(affinity_cores(), cgroup_cores());
    return cores > 0 ? cores : 1;
}
