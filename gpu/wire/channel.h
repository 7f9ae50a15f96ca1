/* SPDX-License-Identifier: MIT
 * Sending and receiving the messages of gpu/wire/wire.h. */
#ifndef BLURD_GPU_WIRE_CHANNEL_H
#define BLURD_GPU_WIRE_CHANNEL_H

#include "gpu/wire/wire.h"

/* A connected pair of sockets, both close-on-exec. ST_BUSY without descriptors. */
enum status channel_pair(int pair[2], struct error *err);

/* Fills in the head of a message of `size` bytes and sends it, with descriptor `fd` unless
 * that is negative. ST_DEVICE when the other side is gone. */
enum status channel_send(int socket, void *message, size_t size, enum wire_kind kind, int fd,
                         struct error *err);

/* Polls until a message has arrived, for half a millisecond at most. On a virtual machine a sleeping thread
 * is woken up to a millisecond late, and most runs from pixels to pixels take less than that. */
void channel_ask(int socket);

/* Waits at most `ms` milliseconds (-1: for ever) for a message of exactly that kind and
 * size. With `fd` a descriptor must come with it and is then the caller's; without, one
 * that came is dropped. ST_TIMEOUT when none came in time; ST_DEVICE when the other side is gone or
 * sent something else. */
enum status channel_receive(int socket, void *message, size_t size, enum wire_kind kind, int *fd, int64_t ms,
                            struct error *err);

#endif
