/* SPDX-License-Identifier: MIT
 * Both ends of a TCP connection over loopback. */
#ifndef BLURD_TESTS_TCP_FIXTURE_H
#define BLURD_TESTS_TCP_FIXTURE_H

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct tcp_ends {
    int server, client; /* the caller closes both */
};

static inline struct tcp_ends tcp_connect(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    int server = accept(listener, NULL, NULL);
    assert_true(server >= 0);
    close(listener);
    return (struct tcp_ends){server, client};
}

#endif
