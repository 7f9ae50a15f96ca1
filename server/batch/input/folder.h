/* SPDX-License-Identifier: MIT
 * The names in a folder, sorted. */
#ifndef BLURD_SERVER_BATCH_INPUT_FOLDER_H
#define BLURD_SERVER_BATCH_INPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/status.h"

struct folder {
    char *text;      /* kind and name of each, with a zero at its end */
    uint32_t *entry; /* where each begins in `text` */
    size_t size, count, room, rooms, next;
};

enum folder_kind { FOLDER_FILE = 'f', FOLDER_FOLDER = 'd', FOLDER_OTHER = 'o' };

/* Reads the names, but for those of the folder `skipped`. A link is what it leads to; one that leads to a
 * folder is FOLDER_OTHER, so that no way is endless. ST_ARGUMENT: it cannot be read; ST_LIMIT: its names
 * have more than 4 GiB. folder_finish frees it in any case. */
enum status folder_read(struct folder *folder, const char *path, const struct stat *skipped,
                        struct error *err);
void folder_finish(struct folder *folder);

/* The next name and its kind; NULL at the end. */
const char *folder_next(struct folder *folder, enum folder_kind *kind);

#endif
