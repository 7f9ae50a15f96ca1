/* SPDX-License-Identifier: MIT
 * The report of a batch, in lines of JSON: first what the job is, then what was done with each file. It is
 * also the state from which a later batch continues. */
#ifndef BLURD_SERVER_BATCH_JOURNAL_H
#define BLURD_SERVER_BATCH_JOURNAL_H

#include <sys/stat.h>

#include "core/bytes.h"
#include "server/batch/input/names.h"
#include "server/client/http/transfer.h"

/* The outcome of a file. Strings are borrowed. */
struct journal_entry {
    const char *name;   /* within the output */
    const char *status; /* "done", "failed" or "skipped" */
    const char *output; /* name of the answer within the output; NULL: none */
    struct stat file;   /* as it was read; st_nlink 0: not read */
    const struct transfer_result *result;
    bool hashed;
    unsigned tries;
    double ms; /* of all tries, with the waits between them */
};

/* Appends a line to `lines`. ST_BUSY without memory. */
enum status journal_write(const struct journal_entry *entry, struct buf *lines, struct error *err);

/* Appends lines to a report that journal_open has opened, and waits until they are on the disk. ST_BUSY with
 * a sentence: then only whole lines were written, behind which others may follow. */
enum status journal_append(int fd, struct bytes lines, struct error *err);

/* What stands for the file's size and time, by which a later batch sees that it was changed. */
uint32_t journal_state(const struct names *names, const struct stat *file);

/* What else the state of a name can be: of a file whose answer is not there any more, and of the name of an
 * answer, which has that of its file with another ending. States of files are odd, so that none is another.
 */
enum { JOURNAL_GONE = 2, JOURNAL_OWNED = 6 };

/* The state of a name that the answer to the file `name` has. */
uint32_t journal_owner(const struct names *names, const char *name);

static inline bool journal_is_owned(uint32_t state) {
    return state >= JOURNAL_OWNED && state % 2 == 0;
}

enum journal_mode {
    JOURNAL_NEW,    /* it must not be there */
    JOURNAL_RESUME, /* it may be there, and is continued */
    JOURNAL_READ,   /* the same, but nothing is written: *fd is -1 if it is not there */
};

/* Opens the report at `path`. The states of files that were done, and of the names of their answers, are put
 * into `names`; whether an answer is there, with the size that the line tells, is looked for in the folder
 * `output` (a descriptor). A last line without its end, from a batch that was killed, is removed. Then and in
 * new reports the descriptor is at the end. *fd is locked against other batches; the caller closes it.
 * ST_ARGUMENT with a sentence: it is there already, is of another job, in use, or damaged. */
enum status journal_open(const char *path, enum journal_mode mode, const char *job, int output,
                         struct names *names, int *fd, struct error *err);

#endif
