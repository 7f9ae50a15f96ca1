/* SPDX-License-Identifier: MIT
 * The kind of batch that does one picture, from standard input or to standard output. */
#ifndef BLURD_SERVER_BATCH_SINGLE_H
#define BLURD_SERVER_BATCH_SINGLE_H

#include "config/job/job.h"
#include "server/batch/batch.h"

/* Whether the command line asks for that: its only operand or its output is "-". */
bool single_is_asked(const struct job_line *line);

/* Makes batch->kind and batch->state, and reads the picture. ST_ARGUMENT with a sentence. */
enum status single_create(struct batch *batch, const struct job_line *line, struct error *err);

#endif
