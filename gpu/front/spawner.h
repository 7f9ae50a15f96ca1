/* SPDX-License-Identifier: MIT
 * The spawner is a process that starts engines, so that the front, which reads network data, needs no right
 * to start processes (server/process/sandbox.h).
 *
 * The front forks it while it has one thread and no client's data in its memory. Each engine has a
 * *lifeline*, a socket pair between the front and the spawner. The spawner kills the engine when the
 * front's end is shut down for writing or closed. It closes its own end when it has reaped the engine. */
#ifndef BLURD_GPU_FRONT_SPAWNER_H
#define BLURD_GPU_FRONT_SPAWNER_H

#include "core/status.h"
#include "gpu/gpu.h"

/* Starts an engine with two socket pairs (channel_pair): the lifeline and the control socket. The caller
 * keeps the first end of each; the second is closed. Returns at once; an engine that cannot start closes its
 * control socket. The next engine starts only when the previous one is reaped. `open` asks for one without a
 * sandbox, where that is permitted. ST_DEVICE when the spawner is gone. */
enum status spawner_start(struct gpu_spawner *spawner, bool open, int lifeline[2], int control[2],
                          struct error *err);

/* Reports that the engine serves inside its sandbox. Then the spawner starts no engine without one. */
void spawner_proven(int lifeline);

/* Asks for the engine to be killed and returns at once. Thread-safe; repeated calls are allowed. */
void spawner_kill(int lifeline);

/* Waits until a killed engine is gone. */
void spawner_reap(int lifeline);

#endif
