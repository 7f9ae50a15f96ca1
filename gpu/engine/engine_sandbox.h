/* SPDX-License-Identifier: MIT
 * The sandbox of an engine, which limits what an attacker who controls the engine can do. Once the driver is
 * open, the engine needs its memory, its threads, the GPU's devices, the sockets it has, and some files that
 * the driver reads. The rest is denied to all threads, including the driver's:
 *
 *   calls   A list (core/call_list.h). No program, no process, no socket, no memory that can be run, no file
 *           that is made. ioctl takes the commands of the GPU's driver and no terminal's.
 *   files   Landlock (core/landlock.h), as far as the kernel knows it: only the GPU's devices may be used,
 *           and only what the driver reads of the system and of this process may be read. No TCP connection.
 *
 * docs/security.md says what is left. */
#ifndef BLURD_GPU_ENGINE_ENGINE_SANDBOX_H
#define BLURD_GPU_ENGINE_ENGINE_SANDBOX_H

#include <stdbool.h>

#include "core/call_list.h"
#include "core/status.h"

struct engine_sandbox {
    struct call_list list;
};

/* Before the driver is opened, while there is one thread: makes the list of calls, which takes a millisecond.
 */
void engine_sandbox_prepare(struct engine_sandbox *sandbox);

/* Once the driver is up. What the kernel lacks is logged; with `must` it is ST_DEVICE, with a sentence.
 * *entered: at least the list of calls is in force. */
enum status engine_sandbox_enter(const struct engine_sandbox *sandbox, bool must, bool *entered,
                                 struct error *err);

/* The list (core/call_list.h); there is no context. */
int engine_sandbox_fill(void *filter, pid_t process, const void *context);

#endif
