/* SPDX-License-Identifier: MIT */
#include "server/batch/input/originals.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare(const void *a, const void *b) {
    const struct original *one = a, *other = b;
    return one->device != other->device ? (one->device > other->device ? 1 : -1)
           : one->inode != other->inode ? (one->inode > other->inode ? 1 : -1)
                                        : 0;
}

enum status originals_create(struct originals *originals, const char *const *operand, unsigned operands,
                             struct error *err) {
    struct stat file;
    *originals = (struct originals){.one = calloc((size_t)operands + 1, sizeof *originals->one)};
    if (!originals->one) {
        return fail(err, ST_BUSY, "out of memory");
    }
    for (unsigned i = 0; i < operands; i++) {
        if (stat(operand[i], &file) == 0) {
            originals->one[originals->count++] = (struct original){file.st_dev, file.st_ino};
        }
    }
    qsort(originals->one, originals->count, sizeof *originals->one, compare);
    return ST_OK;
}

void originals_finish(struct originals *originals) {
    free(originals->one);
    *originals = (struct originals){0};
}

static bool is_one(const struct originals *originals, int root, const char *path) {
    struct stat file;
    const bool there = fstatat(root, path, &file, 0) == 0;
    const struct original wanted = {there ? file.st_dev : 0, there ? file.st_ino : 0};
    return there && bsearch(&wanted, originals->one, originals->count, sizeof wanted, compare);
}

bool originals_have(const struct originals *originals, int root, const char *name) {
    char path[PATH_MAX];
    if (!originals->count || faccessat(root, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (is_one(originals, root, path)) {
            return true;
        }
        *slash = '/';
    }
    return is_one(originals, root, path);
}
