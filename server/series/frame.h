/* SPDX-License-Identifier: MIT
 * The request that each frame of a series is, and what may be asked of it. */
#ifndef BLURD_SERVER_SERIES_FRAME_H
#define BLURD_SERVER_SERIES_FRAME_H

#include "core/status.h"

struct request;

/* Called with the request of a series once its parameters are set: sets what differs from a single picture.
 * ST_ARGUMENT, with the reason in the request, for what no series can have. */
enum status frame_check_series(struct request *series);

/* A request for a frame, with the parameters of the series, ready for its body. exchange_destroy frees it.
 * NULL without memory. */
struct request *frame_create(const struct request *series);

#endif
