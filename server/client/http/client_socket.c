/* SPDX-License-Identifier: MIT */
#include "server/client/http/client_socket.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum status client_socket_trust(void **trust, struct error *err) {
    gnutls_certificate_credentials_t credentials;
    if (gnutls_certificate_allocate_credentials(&credentials) != 0) {
        return fail(err, ST_BUSY, "out of memory");
    }
    gnutls_certificate_set_x509_system_trust(credentials);
    *trust = credentials;
    return ST_OK;
}

void client_socket_distrust(void *trust) {
    if (trust) {
        gnutls_certificate_free_credentials(trust);
    }
}

/* Whether a call must be repeated. Not after GNUTLS_E_AGAIN: then nothing came for CLIENT_SOCKET_WAIT_S. */
static bool goes_on(ssize_t result) {
    return result < 0 && result != GNUTLS_E_AGAIN && !gnutls_error_is_fatal((int)result);
}

static bool prepare(gnutls_session_t session, const struct daemon_address *address) {
    return gnutls_set_default_priority(session) == 0 &&
           gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, address->trust) == 0 &&
           gnutls_server_name_set(session, GNUTLS_NAME_DNS, address->host, strlen(address->host)) == 0;
}

static enum status start_tls(struct client_socket *socket, const struct daemon_address *address,
                             struct error *err) {
    gnutls_session_t session;
    int result;
    if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) != 0) {
        return fail(err, ST_BUSY, "out of memory");
    }
    socket->tls = session;
    if (!prepare(session, address)) {
        return fail(err, ST_BUSY, "out of memory");
    }
    gnutls_session_set_verify_cert(session, address->host, 0);
    gnutls_transport_set_int(session, socket->fd);
    do {
        result = gnutls_handshake(session);
    } while (goes_on(result));
    if (result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
        return fail(err, ST_ARGUMENT, "the certificate of %s is not trusted", address->host);
    }
    return result == 0 ? ST_OK
                       : fail(err, ST_BUSY, "TLS with %s: %s", address->host, gnutls_strerror(result));
}

enum status client_socket_open(struct client_socket *socket, const struct daemon_address *address,
                               struct error *err) {
    socket->at = socket->have = 0;
    socket->tls = NULL;
    enum status status = address_connect(address, CLIENT_SOCKET_WAIT_S, &socket->fd, err);
    if (status == ST_OK && address->tls) {
        status = start_tls(socket, address, err);
    }
    if (status != ST_OK) {
        client_socket_close(socket);
    }
    return status;
}

void client_socket_close(struct client_socket *socket) {
    if (socket->tls) {
        gnutls_deinit(socket->tls);
        socket->tls = NULL;
    }
    if (socket->fd >= 0) {
        close(socket->fd);
        socket->fd = -1;
    }
}

static ssize_t send_some(struct client_socket *socket, struct bytes data, bool more) {
    ssize_t sent;
    do {
        sent = socket->tls ? gnutls_record_send(socket->tls, data.data, data.size)
                           : send(socket->fd, data.data, data.size, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    } while (socket->tls ? goes_on(sent) : sent < 0 && errno == EINTR);
    return sent;
}

enum status client_socket_send(struct client_socket *socket, struct bytes data, bool more,
                               struct error *err) {
    while (data.size > 0) {
        const ssize_t sent = send_some(socket, data, more);
        if (sent <= 0) {
            return fail(err, ST_BUSY, "the daemon takes no more: %s", socket->tls ? "TLS" : strerror(errno));
        }
        data.data += sent;
        data.size -= (size_t)sent;
    }
    return ST_OK;
}

bool client_socket_is_quiet(const struct client_socket *socket) {
    char one;
    return socket->at == socket->have && (!socket->tls || gnutls_record_check_pending(socket->tls) == 0) &&
           (socket->tls || recv(socket->fd, &one, 1, MSG_PEEK | MSG_DONTWAIT) < 0);
}

ssize_t client_socket_receive(struct client_socket *socket) {
    uint8_t *to = socket->buffer + socket->have;
    const size_t room = CLIENT_SOCKET_BUFFER - socket->have;
    ssize_t got;
    do {
        got = socket->tls ? gnutls_record_recv(socket->tls, to, room) : recv(socket->fd, to, room, 0);
    } while (socket->tls ? goes_on(got) : got < 0 && errno == EINTR);
    socket->have += got > 0 ? (size_t)got : 0;
    return got < 0 ? -1 : got;
}
