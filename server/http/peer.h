/* SPDX-License-Identifier: MIT
 * What the kernel knows about the other end of a socket. Nothing is read or written. */
#ifndef BLURD_SERVER_HTTP_PEER_H
#define BLURD_SERVER_HTTP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the peer has closed its side, or is gone. *dead (NULL: not wanted): it does not
 * read either. */
bool peer_closed(int fd, bool *dead);

/* Whether bytes have come that nobody has read yet. */
bool peer_has_unread(int fd);

/* Bytes that came from the peer and bytes that it has confirmed, since the connection began.
 * 0 also where the kernel does not count: other sockets than TCP, old kernels, gVisor. */
uint64_t peer_received(int fd);
uint64_t peer_confirmed(int fd);

/* Writes the address in digits; empty for sockets without one. */
void peer_name(int fd, char *text, size_t size);

#endif
