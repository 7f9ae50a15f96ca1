/* SPDX-License-Identifier: MIT
 * The listening socket. */
#ifndef BLURD_SERVER_HTTP_LISTEN_H
#define BLURD_SERVER_HTTP_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "config/option.h"
#include "core/status.h"

/* Makes a stream socket with that address: IPv4 or IPv6 in digits ("::" accepts both, and falls back to IPv4
 * on hosts without IPv6), or unix:PATH, which listens at once. A `*port` of 0 picks a free one; the actual
 * port is stored, and 0 for a path. At the path, a socket without a listener is replaced; the file stays
 * when the process ends, since a sandbox cannot remove it, and its mode is what the umask leaves. The caller
 * closes *fd. ST_ARGUMENT with a sentence: also when a process listens there, or the path is of something
 * else. */
enum status listen_bind(const char *address, uint16_t *port, int *fd, struct error *err);

/* Connections are taken from now on, by the kernel. A socket that listens already stays as it is.
 * ST_ARGUMENT: another process was first. */
enum status listen_start(int fd, struct error *err);

/* Connects to that address and port of this machine; "::" and "0.0.0.0" are reached over loopback. Blocks
 * without a limit. The caller closes *fd. ST_ARGUMENT with a sentence. */
enum status listen_reach(const char *address, uint16_t port, int *fd, struct error *err);

/* Whether other machines may reach `fd`: it listens on an IP address that is not a loopback address. */
bool listen_is_public(int fd);

/* Stores the port that `fd` listens on; 0 for sockets without one. */
void listen_port(int fd, uint16_t *port);

/* Whether the address is unix:PATH. */
bool listen_is_local(const char *address);

/* Writes where `fd` listens: "port 8080" or "unix:/run/blurd.sock". */
enum { LISTEN_NAME_MAX = OPTION_ADDRESS_MAX + 1 };
void listen_name(int fd, char name[LISTEN_NAME_MAX]);

/* Writes the URL under which a browser on this machine reaches `fd`: "http://localhost:8080/". An empty text
 * for sockets without a port. */
enum { LISTEN_URL_MAX = 80 };
void listen_url(int fd, bool tls, char url[LISTEN_URL_MAX]);

#endif
