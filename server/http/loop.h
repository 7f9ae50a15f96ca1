/* SPDX-License-Identifier: MIT
 * A thread that runs somebody's event loop: it waits until a descriptor is readable or a time
 * has passed, and calls. Other threads can have things done there. */
#ifndef BLURD_SERVER_HTTP_LOOP_H
#define BLURD_SERVER_HTTP_LOOP_H

#include <stdint.h>

#include "core/status.h"

struct loop;

/* What the thread does when `fd` is readable or the time is over: work without blocking,
 * and return after how many milliseconds it wants to be called again, -1 for never. */
typedef int64_t (*loop_work)(void *context);

/* How many such threads to have: `wanted`, or, when that is 0, one for every four cores, 8 at most. */
unsigned loop_threads(unsigned wanted, unsigned cores);

/* Starts the thread; it begins with a call of `work`, for which *loop is set already. ST_BUSY without memory,
 * descriptors or threads. */
enum status loop_start(struct loop **loop, int fd, loop_work work, void *context, struct error *err);

/* Has the thread call its work soon. Never waits; any thread may call it. */
void loop_wake(struct loop *loop);

/* Has the thread call `job` with the loop's context, and waits until it has. One caller at a
 * time, not the thread itself. */
void loop_call(struct loop *loop, void (*job)(void *context));

/* Ends the thread after what it is at. NULL is allowed. */
void loop_stop(struct loop *loop);

#endif
