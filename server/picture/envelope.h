/* SPDX-License-Identifier: MIT
 * The envelope of the picture: the body itself, or a multipart form around it. */
#ifndef BLURD_SERVER_PICTURE_ENVELOPE_H
#define BLURD_SERVER_PICTURE_ENVELOPE_H

#include "core/bytes.h"

struct request;

/* Finds the picture's bytes in the body, which *input then borrows, and takes the parameters that a form
 * carries. ST_CORRUPT for a broken form or one without a picture, ST_ARGUMENT for a parameter. */
enum status envelope_open(struct request *request, struct bytes *input, struct error *err);

#endif
