/* SPDX-License-Identifier: MIT
 * A pair of sockets: the watchdog sees one end, the client has the other. Deadlines are
 * short; that nothing happens is believed after a while. */
#include "core/clock.h"
#include "core/log.h"
#include "server/watchdog.h"

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

enum { SHORT_MS = 30, QUIET_MS = 150, PATIENCE_MS = 5000, LONG_MS = 3600 * 1000 };

struct line {
    int server, client;
    struct watch *watch;
};

static struct watchdog *start(void) {
    struct watchdog *dog = NULL;
    struct error err = {0};
    assert_int_equal(watchdog_create(&dog, &err), ST_OK);
    return dog;
}

static struct line dial(struct watchdog *dog) {
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    struct line line = {fd[0], fd[1], watch_add(dog, fd[0])};
    assert_non_null(line.watch);
    assert_false(watch_expired(line.watch));
    return line;
}

static void hang_up(struct line *line) {
    watch_remove(line->watch);
    close(line->server);
    close(line->client);
}

/* Everything that the client receives until the end of the conversation. */
static size_t receive(struct line *line, char *text, size_t size) {
    size_t used = 0;
    for (;;) {
        struct pollfd wait = {.fd = line->client, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        ssize_t got = read(line->client, text + used, size - 1 - used);
        assert_true(got >= 0);
        if (got == 0) {
            text[used] = '\0';
            return used;
        }
        used += (size_t)got;
    }
}

static bool silent(const struct line *line, int ms) {
    struct pollfd wait = {.fd = line->client, .events = POLLIN};
    return poll(&wait, 1, ms) == 0;
}

static void check_408(enum watch_phase phase, const char *id, const char *word) {
    struct watchdog *dog = start();
    struct line line = dial(dog);
    char text[2048], expected[128];
    watch_phase(line.watch, phase, SHORT_MS, id);
    size_t size = receive(&line, text, sizeof text);
    assert_true(watch_expired(line.watch));
    assert_memory_equal(text, "HTTP/1.1 408 Request Timeout\r\n", 30);
    const char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    body += 4;
    snprintf(expected, sizeof expected, "\r\nContent-Length: %zu\r\n", size - (size_t)(body - text));
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(text, "\r\nContent-Type: application/problem+json\r\n"));
    snprintf(expected, sizeof expected, "\"request_id\":\"%s\"}\n", id ? id : "");
    assert_string_equal(body + strlen(body) - strlen(expected), expected);
    snprintf(expected, sizeof expected, "\r\nX-Request-Id: %s\r\n", id ? id : "");
    assert_true(id ? strstr(text, expected) != NULL : strstr(text, "X-Request-Id") == NULL);
    assert_non_null(strstr(body, word));
    hang_up(&line);
    watchdog_destroy(dog);
}

static void test_headers_and_body(void **state) {
    (void)state;
    check_408(WATCH_HEADERS, NULL, "headers");
    check_408(WATCH_HEADERS, "abc-1", "headers");
    check_408(WATCH_BODY, "0123456789012345678901234567890123456789012345678901234567890123", "body");
}

static void test_silence(void **state) {
    (void)state;
    static const enum watch_phase phases[] = {WATCH_IDLE, WATCH_WRITE};
    for (int i = 0; i < 2; i++) {
        struct watchdog *dog = start();
        struct line line = dial(dog);
        char text[16];
        int64_t begin = clock_ns();
        watch_phase(line.watch, phases[i], SHORT_MS, NULL);
        assert_int_equal(receive(&line, text, sizeof text), 0);
        assert_true(clock_ns() - begin >= (int64_t)SHORT_MS * 1000000);
        assert_true(watch_expired(line.watch));
        assert_int_equal(send(line.server, "x", 1, MSG_NOSIGNAL), -1); /* still open, but shut down */
        hang_up(&line);
        watchdog_destroy(dog);
    }
}

static void test_work_has_no_deadline(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line fresh = dial(dog), working = dial(dog), moved = dial(dog);
    watch_phase(working.watch, WATCH_HEADERS, SHORT_MS, NULL);
    watch_phase(working.watch, WATCH_WORK, 0, NULL);
    watch_phase(moved.watch, WATCH_BODY, SHORT_MS, NULL);
    watch_phase(moved.watch, WATCH_BODY, LONG_MS, NULL); /* later than what the thread waits for */
    assert_true(silent(&working, QUIET_MS));
    assert_true(silent(&moved, 0) && silent(&fresh, 0));
    assert_false(watch_expired(working.watch) || watch_expired(moved.watch) || watch_expired(fresh.watch));
    watch_phase(working.watch, WATCH_IDLE, 0, NULL);
    char text[16];
    assert_int_equal(receive(&working, text, sizeof text), 0);
    hang_up(&fresh);
    hang_up(&working);
    hang_up(&moved);
    watchdog_destroy(dog);
}

/* A deadline earlier than the one that the thread sleeps for wakes it. */
static void test_earlier_deadline(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line late = dial(dog), early = dial(dog);
    char text[16];
    watch_phase(late.watch, WATCH_IDLE, LONG_MS, NULL);
    assert_true(silent(&late, 20)); /* time to fall asleep in */
    watch_phase(early.watch, WATCH_IDLE, SHORT_MS, NULL);
    assert_int_equal(receive(&early, text, sizeof text), 0);
    assert_true(silent(&late, 0));
    assert_false(watch_expired(late.watch));
    hang_up(&late);
    hang_up(&early);
    watchdog_destroy(dog);
}

static void test_removal(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line line[3] = {dial(dog), dial(dog), dial(dog)};
    for (int i = 0; i < 3; i++) {
        watch_phase(line[i].watch, WATCH_BODY, SHORT_MS, NULL);
    }
    watch_remove(line[1].watch); /* in the middle, then at the ends */
    watch_remove(line[0].watch);
    watch_remove(line[2].watch);
    assert_true(silent(&line[1], QUIET_MS));
    for (int i = 0; i < 3; i++) {
        assert_true(silent(&line[i], 0));
        assert_int_equal(write(line[i].server, "x", 1), 1);
        close(line[i].server);
        close(line[i].client);
    }
    watch_remove(NULL);
    watch_phase(NULL, WATCH_BODY, 0, NULL);
    assert_false(watch_expired(NULL));
    watchdog_destroy(dog);
    watchdog_destroy(NULL);
}

/* What expired stays so, and nothing more is sent. */
static void test_expired_stays(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line line = dial(dog);
    char text[2048];
    watch_phase(line.watch, WATCH_BODY, -1000, "a");
    assert_true(receive(&line, text, sizeof text) > 0);
    watch_phase(line.watch, WATCH_HEADERS, SHORT_MS, "b");
    struct timespec pause = {0, 2 * SHORT_MS * 1000000L};
    nanosleep(&pause, NULL);
    assert_int_equal(receive(&line, text, sizeof text), 0);
    assert_true(watch_expired(line.watch));
    hang_up(&line);
    watchdog_destroy(dog);
}

/* A client that reads nothing does not hold the watchdog up. */
static void test_full_socket(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line stuck = dial(dog), other = dial(dog);
    static char filling[4096];
    while (send(stuck.server, filling, sizeof filling, MSG_DONTWAIT) > 0) {
    }
    watch_phase(stuck.watch, WATCH_BODY, SHORT_MS, NULL);
    watch_phase(other.watch, WATCH_IDLE, 2 * SHORT_MS, NULL);
    char text[16];
    assert_int_equal(receive(&other, text, sizeof text), 0);
    assert_true(watch_expired(stuck.watch));
    hang_up(&stuck);
    hang_up(&other);
    watchdog_destroy(dog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_and_body), cmocka_unit_test(test_silence),
        cmocka_unit_test(test_earlier_deadline), cmocka_unit_test(test_work_has_no_deadline),
        cmocka_unit_test(test_removal),          cmocka_unit_test(test_expired_stays),
        cmocka_unit_test(test_full_socket),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
