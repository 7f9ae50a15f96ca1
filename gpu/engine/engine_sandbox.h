/* SPDX-License-Identifier: MIT
 * The sandbox of an engine limits an attacker who controls the engine. It binds all threads, including the
 * driver's:
 *
 *   calls   A list (core/process/call_list.h). No new program, process or socket, no executable memory, no
 * new file. ioctl takes only the commands of the GPU's driver. files   Landlock (core/process/landlock.h), as
 * far as the kernel supports it. The engine may use only the GPU's devices and read only the system files
 * that the driver needs. No TCP connection.
 *
 * docs/security.md lists the remaining risks. */
#ifndef BLURD_GPU_ENGINE_ENGINE_SANDBOX_H
#define BLURD_GPU_ENGINE_ENGINE_SANDBOX_H

#include <stdbool.h>

#include "core/process/call_list.h"
#include "core/status.h"

struct engine_sandbox {
    struct call_list list;
};

/* Makes the list of calls, in a millisecond. Call it with one thread, before the driver is opened. */
void engine_sandbox_prepare(struct engine_sandbox *sandbox);

/* Call it once the driver is open. Logs what the kernel lacks; with `must` that is ST_DEVICE. *entered: at
 * least the list of calls is in force. */
enum status engine_sandbox_enter(const struct engine_sandbox *sandbox, bool must, bool *entered,
                                 struct error *err);

/* Fills in the list (core/process/call_list.h). `context` is unused. */
int engine_sandbox_fill(void *filter, pid_t process, const void *context);

#endif
