/* SPDX-License-Identifier: MIT
 * Files without a name for what comes from a stream or goes to one: a picture must be whole before it is
 * sent, may be sent again, and memory has no room for all of them. They lie in $TMPDIR, or /tmp. */
#ifndef BLURD_SERVER_BATCH_SPOOL_H
#define BLURD_SERVER_BATCH_SPOOL_H

#include "core/bytes.h"
#include "core/status.h"

/* The caller closes *fd, which removes the file. ST_BUSY with a sentence. */
enum status spool_open(int *fd, struct error *err);

/* Appends to a spool, or writes to another descriptor. ST_BUSY with a sentence. */
enum status spool_write(int fd, struct bytes data, struct error *err);

/* Calls `take` with all of a spool, piece by piece. */
enum status spool_read(int fd, enum status (*take)(void *context, struct bytes piece, struct error *err),
                       void *context, struct error *err);

/* Copies a stream to a spool, up to its end. */
enum status spool_fill(int fd, int stream, struct error *err);

#endif
