/* SPDX-License-Identifier: MIT
 * A collector that ends the connection while a message is being sent to it. */
#include "server/tracing/post.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { LARGE = 64 << 20 /* more than the sockets hold */ };

/* Takes one byte, and resets. */
static int reset_one(int listener) {
    const struct linger at_once = {.l_onoff = 1};
    char byte;
    int connection = accept(listener, NULL, NULL);
    bool good = recv(connection, &byte, 1, 0) == 1 &&
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0;
    close(connection);
    return good ? 0 : 1;
}

static void test_a_reset(void **state) {
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct endpoint endpoint = {.host = "127.0.0.1", .path = "/v1/traces"};
    struct error err = {0};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), ended;
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(endpoint.port, sizeof endpoint.port, "%d", ntohs(address.sin_port));
    pid_t child = fork();
    if (child == 0) {
        _exit(reset_one(listener));
    }
    uint8_t *body = calloc(1, LARGE);
    assert_non_null(body);
    assert_int_equal(post_json(&endpoint, (struct bytes){body, LARGE}, &err), ST_BUSY);
    assert_memory_equal(err.text, "sending: ", strlen("sending: "));
    free(body);
    close(listener);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_reset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
