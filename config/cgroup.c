/* SPDX-License-Identifier: MIT */
#include "config/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROOT "/sys/fs/cgroup"

enum { PATH_SIZE = 512, NAME_SIZE = 32 };

/* From `base`/`group` up to `base`: each ancestor limits its children. */
static void visit_tree(const char *base, const char *group, cgroup_visit *visit, void *context) {
    char path[PATH_SIZE];
    size_t floor = strlen(base);
    if (snprintf(path, sizeof path, "%s%s", base, group) >= (int)sizeof path) {
        visit(base, context);
        return;
    }
    for (;;) {
        visit(path, context);
        char *slash = strrchr(path, '/');
        if (!slash || (size_t)(slash - path) < floor || strlen(path) <= floor) {
            return;
        }
        *slash = '\0';
    }
}

/* Whether the list "cpu,cpuacct" has the name. */
static bool lists(const char *list, const char *name) {
    size_t size = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at += at != NULL) {
        if (strncmp(at, name, size) == 0 && (at[size] == '\0' || at[size] == ',')) {
            return true;
        }
    }
    return false;
}

/* Lines of /proc/self/cgroup are "0::/path" (version 2) or "4:cpu,cpuacct:/path". In a container the path may
 * be the host's and invisible; then the files are in the root of the tree, the container's own group. */
void cgroup_each(const char *controller, cgroup_visit *visit, void *context) {
    char base[NAME_SIZE + sizeof ROOT];
    char line[PATH_SIZE];
    snprintf(base, sizeof base, "%s/%s", ROOT, controller);
    visit(ROOT, context);
    visit(base, context);
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || strstr(group, "/..")) {
            continue;
        }
        *group++ = '\0';
        if (controllers[1] == '\0') {
            visit_tree(ROOT, group, visit, context);
        } else if (lists(controllers + 1, controller)) {
            visit_tree(base, group, visit, context);
        }
    }
    if (file) {
        fclose(file);
    }
}
