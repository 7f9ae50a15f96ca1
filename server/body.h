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

/* Where the next bytes of a body with a Content-Length go, and how many of them; 0: none, so that body_keep
 * gets them from elsewhere. That is so for the last byte of each body, and where bodies have used up their
 * share of the memory. The slot has had a piece of the body. */
size_t body_room(struct request *request, uint8_t **to);

#endif
