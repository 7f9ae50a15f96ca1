/* SPDX-License-Identifier: MIT
 * From the bytes of a picture to the bytes of the answer. */
#ifndef BLURD_SERVER_PICTURE_PIPELINE_H
#define BLURD_SERVER_PICTURE_PIPELINE_H

#include "core/status.h"

struct request;
struct worker;

/* Runs the request's filter on its body and leaves the encoded picture in the answer's
 * body, with the outcome filled as far as it got. On failure request->error says why. */
enum status pipeline_run(struct request *request, struct worker *worker);

#endif
