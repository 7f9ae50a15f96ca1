/* SPDX-License-Identifier: MIT
 * A JPEG that a GPU turns into a JPEG, file to file. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_H
#define BLURD_SERVER_PICTURE_TRANSCODE_H

#include "server/picture/plan.h"

struct backend;
struct outcome;
struct request;
struct worker;

/* Runs a job that the queue gave to a device, and sets *complete when the answer's body is complete. Faces
 * are searched for first, in the same decoded picture. After nearly any failure the CPU takes the whole job,
 * since its codecs give the better error messages: *complete is false, and the plan and the outcome are as
 * before. ST_NOTHING: a request that requires a region has none. */
enum status transcode_run(struct request *request, struct worker *worker, struct plan *plan, bool *complete,
                          struct error *err);

/* Sets the name of the backend in the outcome: "cpu/avx512", "cuda:0", "cuda:0/jpeg". */
void transcode_name_backend(struct outcome *outcome, const struct backend *backend, int unit,
                            const char *codec);

/* Initialises the buffer of the answer's body. */
void transcode_init_output(const struct plan *plan, struct buf *output);

#endif
