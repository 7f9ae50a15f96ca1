/* SPDX-License-Identifier: MIT
 * Where a stream goes that a batch writes: standard output, or a file that gets its name when it is whole. */
#ifndef BLURD_SERVER_BATCH_DESTINATION_H
#define BLURD_SERVER_BATCH_DESTINATION_H

#include "server/batch/output.h"

struct destination {
    int fd;
    bool named;
    struct output output;
};

/* "" and "-" are standard output, which must not be a terminal. ST_ARGUMENT with a sentence. */
enum status destination_open(struct destination *destination, const char *path, struct error *err);

/* Refuses, with ST_ARGUMENT, a file that is the one that `in` reads. */
enum status destination_spare(const struct destination *destination, int in, struct error *err);

/* Gives a file its name if it is `whole`, else removes it. ST_BUSY with a sentence. Accepts one that was not
 * opened. */
enum status destination_finish(struct destination *destination, bool whole, struct error *err);

#endif
