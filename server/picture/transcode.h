/* SPDX-License-Identifier: MIT
 * Jobs of a GPU that decodes or encodes: from JPEG to JPEG; or with a worker that does the other format,
 * where it only decodes a JPEG that becomes a PNG, or only encodes the JPEG that a PNG becomes. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_H
#define BLURD_SERVER_PICTURE_TRANSCODE_H

#include "server/picture/plan.h"
#include "server/picture/workspace.h"

struct backend;
struct outcome;
struct request;
struct worker;

/* Runs a job that the queue gave to a device, and sets *complete when the answer's body is complete. Faces
 * are searched for first, in the same decoded picture. After nearly any failure the CPU takes the whole job,
 * since its codecs give the better error messages: *complete is false, and the plan and the outcome are as
 * before. ST_NOTHING: a request that requires a region has none. */
enum status transcode_run(struct request *request, struct worker *worker, struct work_plan *plan,
                          bool *complete, struct error *err);

/* Sets the name of the backend in the outcome: "cpu/avx512", "cuda:0", "cuda:0/jpeg". */
void transcode_name_backend(struct outcome *outcome, const struct backend *backend, int unit,
                            const char *codec);

/* Initialises the buffer of the answer's body. */
void transcode_init_output(const struct work_plan *plan, struct buf *output);

/* Lets a device decode the picture and run the chain, if plan_may_decode_only allows it. Returns true when
 * *result holds the chain's result, in the workspace. After false the worker must do all of it. */
bool transcode_decode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                      struct workspace *work, struct image *result);

/* Whether a device is to be asked to filter and encode, once the picture is decoded. */
bool transcode_may_encode(const struct request *request, const struct worker *worker,
                          const struct work_plan *plan);

/* Lets a device run the chain over `source`, which lies in work->memory[0], and encode the result. Returns
 * true when the answer's body is complete. After false the worker must filter and encode the picture. */
bool transcode_encode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                      struct workspace *work, const struct image *source);

#endif
