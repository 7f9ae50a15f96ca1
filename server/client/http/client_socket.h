/* SPDX-License-Identifier: MIT
 * A connection to a daemon, with TLS or without, on which requests follow each other. One thread at a time.
 */
#ifndef BLURD_SERVER_CLIENT_HTTP_CLIENT_SOCKET_H
#define BLURD_SERVER_CLIENT_HTTP_CLIENT_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/bytes.h"
#include "core/status.h"
#include "server/client/http/address.h"

enum { CLIENT_SOCKET_BUFFER = 64 << 10, CLIENT_SOCKET_WAIT_S = 120 };

struct client_socket {
    int fd;          /* -1: closed */
    void *tls;       /* gnutls_session_t; NULL: none */
    uint8_t *buffer; /* CLIENT_SOCKET_BUFFER bytes, of the caller: what was received and is not read yet */
    size_t at, have;
};

/* Connects a socket that is closed and has its `buffer`. With TLS the certificate of the peer must be signed
 * by an authority of address->trust, for the address. ST_BUSY with a sentence; ST_ARGUMENT: it is not. */
enum status client_socket_open(struct client_socket *socket, const struct daemon_address *address,
                               struct error *err);
void client_socket_close(struct client_socket *socket);

/* Sends all. `more` follows at once. ST_BUSY: the peer takes no more, which may have answered. */
enum status client_socket_send(struct client_socket *socket, struct bytes data, bool more, struct error *err);

/* Receives more into the buffer behind what is there. 0: the peer has closed; -1: an error, or nothing came
 * for CLIENT_SOCKET_WAIT_S. */
ssize_t client_socket_receive(struct client_socket *socket);

/* Whether nothing has come that is not read: what stands there before a request is no answer to it. */
bool client_socket_is_quiet(const struct client_socket *socket);

/* Loads the system's authorities, for all sockets with TLS of a command; it takes some 20 ms. ST_BUSY without
 * memory. client_socket_distrust frees them, after the last socket; it accepts NULL. */
enum status client_socket_trust(void **trust, struct error *err);
void client_socket_distrust(void *trust);

#endif
