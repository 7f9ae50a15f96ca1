/* SPDX-License-Identifier: MIT
 * A JPEG that a GPU turns into a JPEG, file to file. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_H
#define BLURD_SERVER_PICTURE_TRANSCODE_H

#include "server/picture/plan.h"

struct backend;
struct outcome;
struct request;
struct worker;

/* Runs a job that the queue gave to a device, and returns whether the answer's body is complete. After any
 * failure the CPU takes the job, since its codecs give the better error messages. */
bool transcode_run(struct request *request, struct worker *worker, const struct plan *plan,
                   struct error *err);

/* Sets the name of the backend in the outcome: "cpu/avx512", "cuda:0", "cuda:0/jpeg". */
void transcode_name_backend(struct outcome *outcome, const struct backend *backend, int unit,
                            const char *codec);

/* Initialises the buffer of the answer's body. */
void transcode_init_output(const struct plan *plan, struct buf *output);

#endif
