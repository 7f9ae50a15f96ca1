/* SPDX-License-Identifier: MIT
 * The listening socket. */
#ifndef BLURD_SERVER_HTTP_LISTEN_H
#define BLURD_SERVER_HTTP_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* Opens a listening TCP socket on `address` (IPv4 or IPv6 in digits; "::" accepts both, and falls back to
 * IPv4 on hosts without IPv6). A `*port` of 0 picks a free one; the actual port is stored. The caller closes
 * *fd. ST_ARGUMENT with a sentence. */
enum status listen_open(const char *address, uint16_t *port, int *fd, struct error *err);

/* Connects to that address and port of this machine; "::" and "0.0.0.0" are reached over loopback. Blocks
 * without a limit. The caller closes *fd. ST_ARGUMENT with a sentence. */
enum status listen_reach(const char *address, uint16_t port, int *fd, struct error *err);

/* Whether other machines may reach `fd`: it listens on an IP address that is not a loopback address. */
bool listen_is_public(int fd);

/* Stores the port that `fd` listens on; 0 for sockets without one. */
void listen_port(int fd, uint16_t *port);

/* Writes the URL under which a browser on this machine reaches `fd`: "http://localhost:8080/". An empty text
 * for sockets without a port. */
enum { LISTEN_URL_MAX = 80 };
void listen_url(int fd, bool tls, char url[LISTEN_URL_MAX]);

#endif
