/* SPDX-License-Identifier: MIT
 * A socket that is kept after its end was sent: the peer reads the end, and may go on sending. */
#include "core/log.h"
#include "server/http/lingering.h"
#include "tests/unit/server/http/tcp_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */
#include "tests/unit/core/no_memory_fixture.h"

enum { ROOM = 64, TIMEOUT_MS = 5000, SOON_MS = 1000 };

struct peers {
    int server, client;
};

static struct peers dial(void) {
    int ends[2];
    struct timeval patience = {.tv_sec = TIMEOUT_MS / 1000};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience), 0);
    return (struct peers){ends[0], ends[1]};
}

static struct lingering *start(void) {
    struct lingering *made = NULL;
    struct error err = {0};
    assert_int_equal(lingering_create(&made, &err), ST_OK);
    return made;
}

/* Sends until the server's end is gone. */
static void await_end(int client) {
    while (send(client, "more", 4, MSG_NOSIGNAL) == 4) {
        struct pollfd wait = {.fd = client, .events = POLLOUT};
        assert_int_equal(poll(&wait, 1, TIMEOUT_MS), 1);
    }
    assert_int_equal(errno, EPIPE);
}

static void test_what_comes_is_taken(void **state) {
    (void)state;
    struct lingering *lingering = start();
    struct peers peers = dial();
    assert_int_equal(send(peers.server, "answer", 6, 0), 6);
    lingering_add(lingering, peers.server);
    close(peers.server);
    char data[1 << 16] = "";
    for (int i = 0; i < 64; i++) { /* 4 MiB, which no socket holds */
        assert_int_equal(send(peers.client, data, sizeof data, MSG_NOSIGNAL), sizeof data);
    }
    assert_int_equal(recv(peers.client, data, sizeof data, MSG_WAITALL), 6);
    assert_memory_equal(data, "answer", 6);
    assert_int_equal(recv(peers.client, data, sizeof data, 0), 0);
    close(peers.client);
    lingering_destroy(lingering);
}

static void test_the_end_of_all(void **state) {
    (void)state;
    struct lingering *lingering = start();
    struct peers peers = dial();
    lingering_add(lingering, peers.server);
    close(peers.server);
    lingering_destroy(lingering);
    await_end(peers.client);
    close(peers.client);
    lingering_destroy(NULL);
}

/* One socket more than there is room for ends with its caller's descriptor; a place that is free again
 * is used. */
static void test_room(void **state) {
    (void)state;
    struct lingering *lingering = start();
    struct peers kept[ROOM];
    for (int i = 0; i < ROOM; i++) {
        kept[i] = dial();
        lingering_add(lingering, kept[i].server);
        close(kept[i].server);
    }
    struct peers excess = dial();
    lingering_add(lingering, excess.server);
    close(excess.server);
    assert_int_equal(send(excess.client, "more", 4, MSG_NOSIGNAL), -1);
    close(excess.client);
    for (int i = 0; i < ROOM; i++) {
        assert_int_equal(send(kept[i].client, "more", 4, MSG_NOSIGNAL), 4);
        close(kept[i].client);
    }
    ssize_t sent = -1;
    for (int i = 0; i < TIMEOUT_MS && sent < 0; i++) { /* until the thread has seen an end */
        poll(NULL, 0, 1);
        struct peers again = dial();
        lingering_add(lingering, again.server);
        close(again.server);
        sent = send(again.client, "more", 4, MSG_NOSIGNAL);
        close(again.client);
    }
    assert_int_equal(sent, 4);
    lingering_destroy(lingering);
}

/* A peer that neither sends nor closes is disconnected after a while. */
static void test_silence(void **state) {
    (void)state;
    struct lingering *lingering = start();
    struct peers peers = dial();
    lingering_add(lingering, peers.server);
    close(peers.server);
    struct pollfd closed = {.fd = peers.client};
    assert_int_equal(poll(&closed, 1, TIMEOUT_MS), 1);
    close(peers.client);
    lingering_destroy(lingering);
}

/* A connection that its peer resets is not kept for the time of a silent one. */
static void test_a_reset(void **state) {
    (void)state;
    struct lingering *lingering = start();
    const struct tcp_ends peers = tcp_connect();
    int copy = fcntl(peers.server, F_DUPFD, 0); /* the next one gets the same number */
    close(copy);
    lingering_add(lingering, peers.server);
    close(peers.server);
    assert_true(fcntl(copy, F_GETFD) >= 0);
    const struct linger at_once = {.l_onoff = 1};
    assert_int_equal(setsockopt(peers.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    close(peers.client);
    for (int ms = 0; fcntl(copy, F_GETFD) >= 0; ms++) {
        assert_true(ms < SOON_MS);
        poll(NULL, 0, 1);
    }
    lingering_destroy(lingering);
}

static int without_memory(void) {
    struct lingering *lingering = NULL;
    static struct error err;
    if (!take_all_memory()) {
        return CHILD_SKIPS;
    }
    return lingering_create(&lingering, &err) == ST_BUSY && !lingering ? 0 : 1;
}

static void test_without_memory(void **state) {
    (void)state;
    check_child(without_memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_comes_is_taken),
        cmocka_unit_test(test_the_end_of_all),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_a_reset),
        cmocka_unit_test(test_without_memory),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("lingering", tests, NULL, NULL);
}
