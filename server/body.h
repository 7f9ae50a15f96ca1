/* SPDX-License-Identifier: MIT
 * Keeps the body of a request in a slot. */
#ifndef BLURD_SERVER_BODY_H
#define BLURD_SERVER_BODY_H

#include <stddef.h>

#include "core/status.h"

struct request;

/* Appends a piece of the body to the request's slot, which the first piece acquires. ST_TOO_LARGE: the body
 * is larger than the limit. ST_BUSY: bodies have no more memory now. The slot stays the request's in each
 * case. Only the request's event thread calls it. */
enum status body_keep(struct request *request, const void *data, size_t size);

#endif
