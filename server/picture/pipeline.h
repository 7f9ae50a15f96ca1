/* SPDX-License-Identifier: MIT
 * Turns the bytes of a picture into the bytes of the answer. */
#ifndef BLURD_SERVER_PICTURE_PIPELINE_H
#define BLURD_SERVER_PICTURE_PIPELINE_H

#include "core/status.h"

struct request;
struct worker;

/* Filters the picture in the request's body, and fills the answer's body and the outcome. On failure
 * request->error gives the reason, and the outcome is partial; with request->needed the run ended before it
 * took memory (overload_check_needs), and this may be called again. */
enum status pipeline_run(struct request *request, struct worker *worker);

#endif
