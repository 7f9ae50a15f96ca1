/* SPDX-License-Identifier: MIT
 * Turns the bytes of a picture into the bytes of the answer. */
#ifndef BLURD_SERVER_PICTURE_PIPELINE_H
#define BLURD_SERVER_PICTURE_PIPELINE_H

#include <stdint.h>

#include "core/status.h"

struct request;
struct worker;

/* Whether the worker goes on with the request, which needs so many bytes beside its body. Another
 * status than ST_OK ends the run before it takes memory; it may be called again. */
typedef enum status pipeline_keep(struct request *request, struct worker *worker, uint64_t needed);

/* Filters the picture in the request's body, and fills the answer's body and the outcome. On failure
 * request->error gives the reason, and the outcome is partial. */
enum status pipeline_run(struct request *request, struct worker *worker, pipeline_keep *keep);

#endif
