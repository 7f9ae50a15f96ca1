/* SPDX-License-Identifier: MIT
 * Keeps the body of a request in a slot. */
#ifndef BLURD_SERVER_BODY_H
#define BLURD_SERVER_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct request;

/* Appends `size` bytes to the body in the request's slot, which the first piece acquires. `data` is NULL when
 * they are there already, where body_room said. ST_TOO_LARGE: the body is larger than max_body. ST_BUSY:
 * there is no memory for bodies now. ST_LIMIT: the body is larger than a slot may be. request->error says so
 * in words. The request owns its slot in each case, and the body in it is as before. Only the request's event
 * thread calls it and body_room. */
enum status body_keep(struct request *request, const void *data, size_t size);

/* Returns how many of the next bytes of a body with a Content-Length may be put to `*to`, which is memory of
 * the request's slot. 0: body_keep has to copy the next piece. That is so for the last byte of each body, and
 * while bodies have used up their share of the memory. body_keep must have been called for the body before.
 */
size_t body_room(struct request *request, uint8_t **to);

#endif
