/* SPDX-License-Identifier: MIT
 * Reads what the kernel knows about the peer of a socket, without any traffic. */
#ifndef BLURD_SERVER_HTTP_PEER_H
#define BLURD_SERVER_HTTP_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the peer has closed its side for sending, or is gone. *dead tells whether it has stopped reading,
 * too: TCP says so (RST) when data is sent to a peer that has closed its socket, or when the peer left data
 * unread. */
bool peer_closed(int fd, bool *dead);

/* Whether received bytes lie unread. */
bool peer_has_unread(int fd);

/* Bytes received from the peer and bytes that it has acknowledged, since the connection began. Always 0 where
 * the kernel does not count: sockets other than TCP, old kernels, gVisor. */
uint64_t peer_received(int fd);
uint64_t peer_confirmed(int fd);

/* Writes the numeric address; empty for sockets without one. */
void peer_name(int fd, char *text, size_t size);

#endif
