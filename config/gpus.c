/* SPDX-License-Identifier: MIT */
#include "config/gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

/* nvidia0 and so on; nvidiactl and nvidia-uvm are no GPUs. */
static bool is_gpu(const char *name) {
    static const char prefix[] = "nvidia";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 && isdigit((unsigned char)name[sizeof prefix - 1]);
}

unsigned gpus_hint(const char *gpus, const char *folder) {
    unsigned count = 0;
    if (strcmp(gpus, "all") != 0) {
        for (const char *p = gpus; (p = strchr(p, ',')); p++) {
            count++;
        }
        return count + 1;
    }
    DIR *files = opendir(folder);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        count += is_gpu(entry->d_name);
    }
    if (files) {
        closedir(files);
    }
    return count;
}
