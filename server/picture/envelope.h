/* SPDX-License-Identifier: MIT
 * Finds the picture in a body, which is the picture itself or a multipart form. */
#ifndef BLURD_SERVER_PICTURE_ENVELOPE_H
#define BLURD_SERVER_PICTURE_ENVELOPE_H

#include "core/bytes.h"
#include "core/status.h"

struct request;

/* Sets request->picture, bytes of the body, and reads the parameters in a form. Does so once.
 * ST_CORRUPT: the form is broken or has no picture. ST_ARGUMENT: a parameter is wrong. */
enum status envelope_open(struct request *request, struct error *err);

/* Adds to request->error, of a picture that failed with `status`, why that may be: `curl -d` takes line ends
 * and zeros out of a file. Says so only of a body that has none, came as curl sends it, and is damaged or of
 * no known format. The body must still be there. */
void envelope_explain(struct request *request, enum status status);

#endif
