/* SPDX-License-Identifier: MIT
 * Makes the gain map of the answer from that of the input: what the filters did to the base, at the map's
 * scale. The base is done by then, by whichever way; the map is always done by cores. docs/hdr.md has the
 * rules. */
#ifndef BLURD_SERVER_HDR_HDR_H
#define BLURD_SERVER_HDR_HDR_H

#include "core/status.h"

struct request;
struct work_plan;
struct worker;

/* Puts the map into the complete answer, where plan->hdr says so, and sets outcome.hdr. If that fails, for a
 * damaged map or want of time or memory, the answer stays the base, outcome.hdr HDR_DROPPED, and the notice
 * tells why. */
void hdr_add(struct request *request, struct work_plan *plan, struct worker *worker);

#endif
