/* SPDX-License-Identifier: MIT */
#include "server/pages/tls_client.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>

/* Whether to repeat a call, which was interrupted or met a protocol message. */
static bool again(ssize_t result) {
    return result < 0 && !gnutls_error_is_fatal((int)result);
}

static enum status handshake(gnutls_session_t session, struct error *err) {
    int result;
    do {
        result = gnutls_handshake(session);
    } while (again(result));
    return result == 0 ? ST_OK
                       : fail(err, ST_ARGUMENT, "the handshake of TLS fails: %s", gnutls_strerror(result));
}

static enum status exchange(gnutls_session_t session, struct bytes request, char *answer, size_t size,
                            struct error *err) {
    ssize_t result;
    do {
        result = gnutls_record_send(session, request.data, request.size);
    } while (again(result));
    for (size_t have = 0; result >= 0 && have < size;) {
        do {
            result = gnutls_record_recv(session, answer + have, size - have);
        } while (again(result));
        if (result == 0) {
            return fail(err, ST_ARGUMENT, "the connection is closed without an answer");
        }
        have += result > 0 ? (size_t)result : 0;
    }
    return result > 0 ? ST_OK
                      : fail(err, ST_ARGUMENT, "no answer over TLS: %s", gnutls_strerror((int)result));
}

static enum status speak(gnutls_session_t session, int fd, struct bytes request, char *answer, size_t size,
                         struct error *err) {
    gnutls_transport_set_int(session, fd);
    enum status status = handshake(session, err);
    return status == ST_OK ? exchange(session, request, answer, size, err) : status;
}

enum status tls_client_ask(int fd, struct bytes request, char *answer, size_t size, struct error *err) {
    gnutls_certificate_credentials_t none = NULL;
    gnutls_session_t session = NULL;
    enum status status = ST_BUSY;
    if (gnutls_certificate_allocate_credentials(&none) == 0 &&
        gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) == 0 &&
        gnutls_set_default_priority(session) == 0 &&
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, none) == 0) {
        status = speak(session, fd, request, answer, size, err);
    } else {
        fail(err, ST_BUSY, "out of memory");
    }
    if (session) {
        gnutls_deinit(session);
    }
    gnutls_certificate_free_credentials(none);
    return status;
}
