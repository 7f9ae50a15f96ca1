/* SPDX-License-Identifier: MIT
 * The files and folders that a batch was given, to see which names no answer may have. */
#ifndef BLURD_SERVER_BATCH_INPUT_ORIGINALS_H
#define BLURD_SERVER_BATCH_INPUT_ORIGINALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/status.h"

struct original {
    dev_t device;
    ino_t inode;
};

/* Zero-initialised: none. */
struct originals {
    struct original *one; /* sorted */
    size_t count;
};

/* ST_BUSY without memory. originals_finish frees them. */
enum status originals_create(struct originals *originals, const char *const *operand, unsigned operands,
                             struct error *err);
void originals_finish(struct originals *originals);

/* Whether a file is at `name` in the folder `root`, and is one of them or lies in one of them: an answer of
 * that name would replace it. */
bool originals_have(const struct originals *originals, int root, const char *name);

#endif
