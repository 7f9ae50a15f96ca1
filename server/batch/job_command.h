/* SPDX-License-Identifier: MIT
 * `blurd run` as a command. */
#ifndef BLURD_SERVER_BATCH_JOB_COMMAND_H
#define BLURD_SERVER_BATCH_JOB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* Runs `argv` as a command and returns the exit status: 0 when all pictures are done, 1 when some are not, 2
 * for a command line or a job that is wrong. */
int job_command_main(int argc, char *const *argv, char *const *envp);

/* Whether jobs begin with this word: the name of an operation that takes a picture. */
bool job_command_is_job(const char *name, size_t length);

/* Checks what can be checked without a daemon: the operation, and that a request line can have the job.
 * ST_ARGUMENT with a sentence. */
enum status job_command_check(const char *job, struct error *err);

#endif
