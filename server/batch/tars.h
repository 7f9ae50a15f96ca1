/* SPDX-License-Identifier: MIT
 * The kind of batch that reads a tar and writes one, in which each picture has its place, its name and its
 * owner. A picture that fails leaves NAME.error.json there. The tar has its end only if all of it was done.
 */
#ifndef BLURD_SERVER_BATCH_TARS_H
#define BLURD_SERVER_BATCH_TARS_H

#include "config/job/job.h"
#include "server/batch/batch.h"

/* Makes batch->kind and batch->state. ST_ARGUMENT with a sentence. */
enum status tars_create(struct batch *batch, const struct job_line *line, struct error *err);

#endif
