/* SPDX-License-Identifier: MIT
 * Where the answers of a batch go: files in a folder, or one file. Each is written under a temporary name and
 * gets its own when it is whole and on the disk, so that a batch may be killed at any moment. */
#ifndef BLURD_SERVER_BATCH_OUTPUT_H
#define BLURD_SERVER_BATCH_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/status.h"

/* The folder of temporary files within an output folder. */
#define OUTPUT_PARTIAL ".blurd-partial"

struct output {
    int root;                  /* the folder: names of answers are relative to it */
    int partial;               /* the folder of temporary files; `root` for a single file */
    char single[NAME_MAX + 1]; /* the file's name; "": a folder */
    uint64_t own;              /* a number in the temporary name of a single file, which no other batch has */
    struct stat folder;        /* identity of a folder */
};

/* Opens the output at `path`: a folder that is there or is made, or with `single` a file, whose folder must
 * be there. Removes what a batch that was killed has left in a folder. ST_ARGUMENT with a sentence: it cannot
 * be opened, is neither folder nor file, or another batch writes to the folder. output_finish closes it in
 * any case. */
enum status output_open(struct output *output, const char *path, bool single, struct error *err);
void output_finish(struct output *output);

/* Makes the temporary file with this number, with the permissions of `like`, less the umask, plus reading
 * and writing for its owner. The
 * caller closes *fd. ST_BUSY with a sentence. Thread-safe for different numbers. */
enum status output_begin(const struct output *output, unsigned long number, mode_t like, int *fd,
                         struct error *err);
void output_abandon(const struct output *output, unsigned long number);

/* Waits until all that was written to the file system of the output is on the disk. */
enum status output_sync(const struct output *output, struct error *err);

/* Gives the temporary file its name, and makes the folders that are in it. ST_BUSY with a sentence. */
enum status output_commit(const struct output *output, unsigned long number, const char *name,
                          struct error *err);

/* Whether the output has anything of that name. */
bool output_has(const struct output *output, const char *name);

/* Whether the file of that name in the output is this one: it must not be replaced. */
bool output_is(const struct output *output, const char *name, const struct stat *file);

/* Writes the name of the answer to a file: its own if its ending fits the type of the answer, else with an
 * ending of that type behind it. False: it is too long. */
bool output_name(const char *name, const char *type, char answer[PATH_MAX]);

#endif
