/* SPDX-License-Identifier: MIT
 * What a way (server/ways.def) leaves in the outcome, the log and the metrics when it ends. */
#ifndef BLURD_SERVER_PICTURE_NOTE_WAY_H
#define BLURD_SERVER_PICTURE_NOTE_WAY_H

#include "core/status.h"
#include "server/planner/way.h"

struct request;

/* The request took it: sets the way in the outcome, and the number and name of the backend of that index:
 * "cpu/avx512", "cuda:0", "cuda:0/jpeg". `unit`: the GPU's number; negative: not one. */
void note_way_taken(struct request *request, enum way way, unsigned backend, int unit);

/* The backend of that index leaves the request to the next one, which may tell the client more about its
 * picture. Only ST_DEVICE counts as a failure of the backend and is logged as a warning. */
void note_way_failed(const struct request *request, unsigned backend, const struct error *cause);

#endif
