/* SPDX-License-Identifier: MIT
 * Runs the threads of a batch. */
#ifndef BLURD_SERVER_BATCH_RUN_H
#define BLURD_SERVER_BATCH_RUN_H

#include "server/batch/batch.h"

/* Does all pictures of batch->kind, or those until the batch breaks or a signal ends it. Blocks. The calling
 * thread is the one that started the batch's daemon. ST_BUSY: no threads. */
enum status run_pictures(struct batch *batch, struct error *err);

/* Lists the pictures that would be done on standard output, and counts them. */
void run_dry(struct batch *batch);

#endif
