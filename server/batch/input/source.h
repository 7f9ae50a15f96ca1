/* SPDX-License-Identifier: MIT
 * Lists the input files of a batch: operands, entries of a list, and the files of folders, sorted by name.
 * One thread at a time.
 *
 * It keeps the names of a folder in memory while it lists the folder, some 25 bytes each, and those of its
 * parents. */
#ifndef BLURD_SERVER_BATCH_INPUT_SOURCE_H
#define BLURD_SERVER_BATCH_INPUT_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/status.h"

struct input {
    char path[PATH_MAX]; /* to open it */
    const char *name;    /* within the output: the end of `path` */
    bool folder;         /* it was found in a folder, not named */
    bool other;          /* no file, by what the folder tells: a link that leads to none, a pipe */
    char problem[160];   /* why it cannot be taken; "": it can */
};

struct source_options {
    const char *const *operand;
    unsigned operands;
    bool recursive;
    FILE *list;          /* of names; NULL: none */
    char ends;           /* what ends a name of the list */
    struct stat skipped; /* a folder that is not read: the output */
};

struct input_source;

/* ST_ARGUMENT, with a sentence, when an operand is not there, or is a folder without `recursive`. The options
 * are copied, but for the strings and the list. source_destroy frees it. */
enum status source_create(struct input_source **source, const struct source_options *options,
                          struct error *err);
void source_destroy(struct input_source *source);

/* Finds the next file. False at the end. What cannot be read or named has its `problem`. */
bool source_next(struct input_source *source, struct input *input);

#endif
