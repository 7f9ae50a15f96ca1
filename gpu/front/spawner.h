/* SPDX-License-Identifier: MIT
 * A process that starts engines, so that the front, which reads what strangers send, needs not
 * be able to start anything (server/process/sandbox.h).
 *
 * It is forked while the front has a single thread and nothing of any client in its memory. All
 * that it can be told is: start this program's engine, end it. An engine's *leash* is a socket
 * pair between the front and the spawner: when the front's end is shut down for writing, or the
 * front is gone, the engine is killed; the spawner closes its end when nothing is left of it. */
#ifndef BLURD_GPU_FRONT_SPAWNER_H
#define BLURD_GPU_FRONT_SPAWNER_H

#include <stdint.h>

#include "core/status.h"
#include "gpu/gpu.h"

/* Starts an engine, given two pairs of sockets (channel_pair): the leash, and control[0] as the socket to the
 * engine. The first end of each stays the caller's, the second one is closed. Returns at once: an engine that
 * cannot be started closes its control socket. ST_DEVICE where the spawner is gone. One engine at a time: the
 * next waits until the one before is buried. `open`: one that enters no sandbox, where the spawner still
 * allows that. */
enum status spawner_start(struct gpu_spawner *spawner, bool open, int leash[2], int control[2],
                          struct error *err);

/* Says that the engine serves in its sandbox: from then on the spawner refuses to start any other kind. */
void spawner_proven(int leash);

/* Has the engine killed; returns at once. Any thread, any number of times. */
void spawner_let_go(int leash);

/* Waits until an engine that was let go is gone. */
void spawner_bury(int leash);

#endif
