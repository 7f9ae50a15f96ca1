/* SPDX-License-Identifier: MIT
 * Keeps the body of a request in a slot. */
#ifndef BLURD_SERVER_BODY_H
#define BLURD_SERVER_BODY_H

#include <stddef.h>

#include "core/status.h"

struct request;

/* Appends `size` bytes to the body in the request's slot, which the first piece acquires. ST_TOO_LARGE: the
 * body is larger than max_body. ST_BUSY: there is no memory for bodies now. ST_LIMIT: the body is larger than
 * a slot may be. request->error says so in words. The request owns its slot in each case, and the body in it
 * is as before. Only the request's event thread calls it. */
enum status body_keep(struct request *request, const void *data, size_t size);

#endif
