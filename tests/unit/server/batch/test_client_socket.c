/* SPDX-License-Identifier: MIT
 * A connection with TLS whose peer says nothing. That certificates are checked is told by tests/http. */
#include "server/client/http/client_socket.h"

#include <gnutls/gnutls.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "tests/unit/server/batch/batch_fixture.h"

static const char priority[] = "NORMAL:-VERS-TLS1.3:+ANON-ECDH";
static uint8_t buffer[CLIENT_SOCKET_BUFFER];

static gnutls_session_t start(unsigned flags, void *credentials, int fd) {
    gnutls_session_t session;
    assert_int_equal(gnutls_init(&session, flags), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priority, NULL), 0);
    assert_int_equal(gnutls_credentials_set(session, GNUTLS_CRD_ANON, credentials), 0);
    gnutls_transport_set_int(session, fd);
    return session;
}

/* Shakes hands, sends two bytes, and then waits until the other side closes. */
static void *serve(void *argument) {
    gnutls_anon_server_credentials_t credentials;
    char byte;
    assert_int_equal(gnutls_anon_allocate_server_credentials(&credentials), 0);
    gnutls_session_t session = start(GNUTLS_SERVER, credentials, *(const int *)argument);
    assert_int_equal(gnutls_handshake(session), 0);
    assert_int_equal(gnutls_record_send(session, "ab", 2), 2);
    assert_true(gnutls_record_recv(session, &byte, 1) <= 0);
    gnutls_deinit(session);
    gnutls_anon_free_server_credentials(credentials);
    return NULL;
}

static void test_silence(void **state) {
    const struct timeval limit = {.tv_usec = 100000};
    gnutls_anon_client_credentials_t credentials;
    pthread_t thread;
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, &pair[1]), 0);
    assert_int_equal(gnutls_anon_allocate_client_credentials(&credentials), 0);
    struct client_socket socket = {
        .fd = pair[0], .buffer = buffer, .tls = start(GNUTLS_CLIENT, credentials, pair[0])};
    assert_int_equal(gnutls_handshake(socket.tls), 0);
    assert_int_equal(client_socket_receive(&socket), 2);
    assert_false(client_socket_is_quiet(&socket));
    socket.at = 2;
    assert_true(client_socket_is_quiet(&socket));
    /* The limit of a wait, which is long otherwise. */
    assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(client_socket_receive(&socket), -1);
    assert_int_equal(socket.have, 2);
    client_socket_close(&socket);
    pthread_join(thread, NULL);
    close(pair[1]);
    gnutls_anon_free_client_credentials(credentials);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_silence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
