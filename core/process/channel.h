/* SPDX-License-Identifier: MIT
 * Sends and receives messages between two processes of this program. A message has a fixed size and fills one
 * packet of a SOCK_SEQPACKET socket. Both ends are the same binary, so plain structs travel; each begins with
 * a struct channel_head. Its fields are the receiver's to check. */
#ifndef BLURD_CORE_PROCESS_CHANNEL_H
#define BLURD_CORE_PROCESS_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum { CHANNEL_MAGIC = 0x44525542 };

struct channel_head {
    uint32_t magic; /* CHANNEL_MAGIC */
    uint32_t kind;  /* which message; the two sides agree on the numbers */
    uint64_t size;  /* of the whole message */
};

/* Makes a connected pair of close-on-exec sockets. ST_BUSY without descriptors. */
enum status channel_pair(int pair[2], struct error *err);

/* Fills in the head of a message of `size` bytes and sends it, with the descriptor `fd` unless it is
 * negative. ST_DEVICE when the peer is gone. */
enum status channel_send(int socket, void *message, size_t size, unsigned kind, int fd, struct error *err);

/* Polls at most half a millisecond for a message. On a virtual machine a sleeping thread is woken up to a
 * millisecond late, longer than most runs from pixels to pixels take. */
void channel_ask(int socket);

/* Waits at most `ms` milliseconds (-1: forever) for a message of this kind and size. With `fd`, the message
 * must carry a descriptor, which the caller then owns; without, a descriptor is dropped. ST_TIMEOUT without a
 * message in time, ST_DEVICE when the peer is gone or sent something else. */
enum status channel_receive(int socket, void *message, size_t size, unsigned kind, int *fd, int64_t ms,
                            struct error *err);

#endif
