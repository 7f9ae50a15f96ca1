/* SPDX-License-Identifier: MIT
 * The request that each frame of a series is, and what may be asked of it. */
#ifndef BLURD_SERVER_SERIES_FRAME_H
#define BLURD_SERVER_SERIES_FRAME_H

#include "core/status.h"

struct finds;
struct request;

/* Called with the request of a series once its parameters are set: sets what differs from a single picture.
 * ST_ARGUMENT, with the reason in the request, for what no series can have. */
enum status frame_check_series(struct request *series);

/* How many frames before and behind a frame have a say in what is hidden in it: 0 also without a search. Then
 * a frame is searched when it is answered; else it is searched first, its finds are in its request, and it
 * keeps its slot. */
unsigned frame_holds(const struct request *series);

/* Prepares a frame that was searched for its answer. `near`: finds of the frames around it and its own, in
 * their order, NULL for frames that are not there. ST_BUSY, with the reason in the request: no memory. */
enum status frame_hold(struct request *frame, const struct finds *const near[], unsigned count);

/* A request for a frame, with the parameters of the series, ready for its body. exchange_destroy frees it.
 * NULL without memory. */
struct request *frame_create(const struct request *series);

#endif
