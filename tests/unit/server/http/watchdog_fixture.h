/* SPDX-License-Identifier: MIT
 * Two ends of a TCP connection: the watchdog sees one end, the client has the other. Deadlines are short; a
 * test waits a while before it believes that nothing happens. */
#ifndef BLURD_TESTS_WATCHDOG_FIXTURE_H
#define BLURD_TESTS_WATCHDOG_FIXTURE_H

#include "core/clock.h"
#include "core/log.h"
#include "server/http/watchdog.h"
#include "tests/unit/server/http/tcp_fixture.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SHORT_MS = 30, QUIET_MS = 150, TIMEOUT_MS = 5000, LONG_MS = 3600 * 1000 };

struct line {
    int server, client;
    struct watch *watch;
};

static inline struct watchdog *start_with(struct watchdog_limits limits) {
    struct watchdog *dog = NULL;
    struct error err = {0};
    limits.header_ms = limits.header_ms ? limits.header_ms : LONG_MS;
    assert_int_equal(watchdog_create(&dog, &limits, &err), ST_OK);
    return dog;
}

static inline struct watchdog *start(void) {
    return start_with((struct watchdog_limits){.soft = 1000});
}

/* A line whose watch is that of an event thread of this number. */
static inline struct line dial_on(struct watchdog *dog, unsigned thread) {
    const struct tcp_ends ends = tcp_connect();
    struct line line = {ends.server, ends.client, watchdog_add(dog, thread, ends.server)};
    assert_non_null(line.watch);
    assert_false(watchdog_ended(line.watch));
    return line;
}

/* Each of these lines has another event thread. */
static inline struct line dial(struct watchdog *dog) {
    static unsigned thread;
    return dial_on(dog, thread++);
}

static inline void hang_up(struct line *line) {
    watchdog_remove(line->watch);
    close(line->server);
    close(line->client);
}

/* Everything that the client receives until the end of the conversation. */
static inline size_t receive(struct line *line, char *text, size_t size) {
    size_t used = 0;
    for (;;) {
        struct pollfd wait = {.fd = line->client, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, TIMEOUT_MS), 1);
        ssize_t got = read(line->client, text + used, size - 1 - used);
        assert_true(got >= 0);
        if (got == 0) {
            text[used] = '\0';
            return used;
        }
        used += (size_t)got;
    }
}

static inline bool silent(const struct line *line, int ms) {
    struct pollfd wait = {.fd = line->client, .events = POLLIN};
    return poll(&wait, 1, ms) == 0;
}

static inline void wait_ms(int ms) {
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

#endif
