/* SPDX-License-Identifier: MIT
 * The time limit of a request, in CLOCK_MONOTONIC nanoseconds (core/clock.h); 0 is none. */
#ifndef BLURD_CORE_DEADLINE_H
#define BLURD_CORE_DEADLINE_H

#include <stdint.h>

#include "core/status.h"

/* Nanoseconds to the deadline, 0 when it has passed, INT64_MAX when there is none. */
int64_t deadline_left(int64_t deadline_ns);

/* ST_LIMIT once the deadline has passed. Costs one clock read, about 25 ns: work that may take long calls
 * it every few milliseconds. */
enum status deadline_check(int64_t deadline_ns, struct error *err);

#endif
