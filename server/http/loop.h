/* SPDX-License-Identifier: MIT
 * A thread that runs an event loop: it waits until a descriptor is readable or a time has passed, and calls a
 * function. Other threads can run functions on it. */
#ifndef BLURD_SERVER_HTTP_LOOP_H
#define BLURD_SERVER_HTTP_LOOP_H

#include <stdint.h>

#include "core/status.h"

struct loop;

/* Called when `fd` is readable or the time has passed. Must not block. Returns after how many milliseconds it
 * is called again; -1: never. 0 calls it at once, without a look at `fd`. */
typedef int64_t (*loop_work)(void *context);

/* The number of event threads: `wanted`, or, when that is 0, one for every two cores, 32 at most. */
unsigned loop_threads(unsigned wanted, unsigned cores);

/* Starts the thread, which begins with a call of `work`; *loop is set before that. `name` is the thread's, of
 * at most 15 bytes, and must outlive the thread. ST_BUSY without memory, descriptors or threads. */
enum status loop_start(struct loop **loop, const char *name, int fd, loop_work work, void *context,
                       struct error *err);

/* Makes the thread call its work soon. Never waits. Thread-safe. */
void loop_wake(struct loop *loop);

/* Runs `job` on the thread with the loop's context and waits for it. One caller at a time, and not the thread
 * itself. */
void loop_call(struct loop *loop, void (*job)(void *context));

/* Ends the thread after its current call. NULL is allowed. */
void loop_stop(struct loop *loop);

#endif
