/* SPDX-License-Identifier: MIT
 * The kind of batch that reads files and writes files. */
#ifndef BLURD_SERVER_BATCH_FILES_H
#define BLURD_SERVER_BATCH_FILES_H

#include "config/job/job.h"
#include "server/batch/batch.h"

/* Makes batch->kind and batch->state: opens the output and the report, and counts the files. ST_ARGUMENT with
 * a sentence. */
enum status files_create(struct batch *batch, const struct job_line *line, struct error *err);

#endif
