/* SPDX-License-Identifier: MIT
 * The spawner is a process that starts engines, so that the front, which reads data from the network, needs
 * no right to start processes (server/process/sandbox.h).
 *
 * It is forked while the front has a single thread and no client's data in its memory. It takes two requests:
 * start this program's engine, and end it. Each engine has a *lifeline*, a socket pair between the front and
 * the spawner. When the front's end is shut down for writing, or the front is gone, the spawner kills the
 * engine. It closes its own end when the engine's process has been reaped. */
#ifndef BLURD_GPU_FRONT_SPAWNER_H
#define BLURD_GPU_FRONT_SPAWNER_H

#include <stdint.h>

#include "core/status.h"
#include "gpu/gpu.h"

/* Starts an engine on two pairs of sockets (channel_pair): the lifeline, and the control socket. The first
 * end of each stays the caller's, the second one is closed. Returns at once; an engine that cannot be started
 * closes its control socket. There is one engine at a time, so the next one waits until the previous one is
 * reaped. `open` asks for one without a sandbox, where the spawner still allows that. ST_DEVICE when the
 * spawner is gone. */
enum status spawner_start(struct gpu_spawner *spawner, bool open, int lifeline[2], int control[2],
                          struct error *err);

/* Tells the spawner that the engine serves in its sandbox. From then on it starts no other kind. */
void spawner_proven(int lifeline);

/* Has the engine killed and returns at once. Any thread, any number of times. */
void spawner_kill(int lifeline);

/* Waits until an engine that was killed is gone. */
void spawner_reap(int lifeline);

#endif
