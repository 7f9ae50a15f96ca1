/* SPDX-License-Identifier: MIT
 * Sends and receives the messages of gpu/wire/wire.h. */
#ifndef BLURD_GPU_WIRE_CHANNEL_H
#define BLURD_GPU_WIRE_CHANNEL_H

#include "gpu/wire/wire.h"

/* Makes a connected pair of close-on-exec sockets. ST_BUSY without descriptors. */
enum status channel_pair(int pair[2], struct error *err);

/* Fills in the head of a message of `size` bytes and sends it, with the descriptor `fd` unless it is
 * negative. ST_DEVICE when the peer is gone. */
enum status channel_send(int socket, void *message, size_t size, enum wire_kind kind, int fd,
                         struct error *err);

/* Polls at most half a millisecond for a message. On a virtual machine a sleeping thread is woken up to a
 * millisecond late, longer than most runs from pixels to pixels take. */
void channel_ask(int socket);

/* Waits at most `ms` milliseconds (-1: forever) for a message of this kind and size. With `fd`, the message
 * must carry a descriptor, which the caller then owns; without, a descriptor is dropped. ST_TIMEOUT without a
 * message in time, ST_DEVICE when the peer is gone or sent something else. */
enum status channel_receive(int socket, void *message, size_t size, enum wire_kind kind, int *fd, int64_t ms,
                            struct error *err);

#endif
