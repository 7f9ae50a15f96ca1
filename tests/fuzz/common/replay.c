/* SPDX-License-Identifier: MIT
 * Runs a fuzz target over files, and the files of folders, that are named as arguments; in
 * builds without a fuzzing engine. A target that finds something wrong ends the process. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

enum { INPUT_MAX = 16 << 20 };

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

/* The data is copied to memory of exactly its size, so that a sanitizer sees reads behind it. */
static bool try_file(const char *path) {
    uint8_t *room = malloc(INPUT_MAX);
    FILE *file = fopen(path, "re");
    if (!room || !file) {
        perror(path);
        free(room);
        return false;
    }
    size_t size = fread(room, 1, INPUT_MAX, file);
    fclose(file);
    uint8_t *exact = malloc(size ? size : 1);
    if (exact) {
        memcpy(exact, room, size);
        fprintf(stderr, "%s (%zu bytes)\n", path, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(room);
    return true;
}

static unsigned try_path(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) {
        return try_file(path);
    }
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[PATH_MAX];
        if (entry->d_name[0] != '.' &&
            (size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < sizeof file) {
            count += try_file(file);
        }
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    unsigned count = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        count += try_path(argv[i]);
    }
    printf("%s: %u inputs\n", argv[0], count);
    return count > 0 ? 0 : 77;
}
