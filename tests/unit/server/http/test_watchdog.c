/* SPDX-License-Identifier: MIT
 * Deadlines of connections. */
#include "tests/unit/server/http/watchdog_fixture.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static _Atomic unsigned rounds; /* of the watchdog's thread */

/* In place of the C library's. */
int epoll_wait(int epoll, struct epoll_event *events, int most, int ms) {
    rounds++;
    return (int)syscall(SYS_epoll_pwait, epoll, events, most, ms, NULL, 0);
}

static void check_408(enum watch_phase phase, const char *id, const char *word) {
    struct watchdog *dog = start();
    struct line line = dial(dog);
    char text[2048], expected[128];
    assert_int_equal(write(line.client, "GET", 3), 3);
    watchdog_enter(line.watch, phase, SHORT_MS, id);
    size_t size = receive(&line, text, sizeof text);
    assert_true(watchdog_ended(line.watch));
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
        watchdog_enter(line.watch, phases[i], SHORT_MS, NULL);
        assert_int_equal(receive(&line, text, sizeof text), 0);
        assert_true(clock_ns() - begin >= (int64_t)SHORT_MS * 1000000);
        assert_true(watchdog_ended(line.watch));
        assert_int_equal(send(line.server, "x", 1, MSG_NOSIGNAL), -1); /* still open, but shut down */
        hang_up(&line);
        watchdog_destroy(dog);
    }
}

static void test_work_has_no_deadline(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line fresh = dial(dog), working = dial(dog), moved = dial(dog);
    watchdog_enter(working.watch, WATCH_HEADERS, SHORT_MS, NULL);
    watchdog_enter(working.watch, WATCH_WORK, 0, NULL);
    watchdog_enter(moved.watch, WATCH_BODY, SHORT_MS, NULL);
    watchdog_enter(moved.watch, WATCH_BODY, LONG_MS, NULL); /* later than the thread's deadline */
    assert_true(silent(&working, QUIET_MS));
    assert_true(silent(&moved, 0) && silent(&fresh, 0));
    assert_false(watchdog_ended(working.watch) || watchdog_ended(moved.watch) || watchdog_ended(fresh.watch));
    watchdog_enter(working.watch, WATCH_IDLE, 0, NULL);
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
    watchdog_enter(late.watch, WATCH_IDLE, LONG_MS, NULL);
    assert_true(silent(&late, 20)); /* time to fall asleep in */
    watchdog_enter(early.watch, WATCH_IDLE, SHORT_MS, NULL);
    assert_int_equal(receive(&early, text, sizeof text), 0);
    assert_true(silent(&late, 0));
    assert_false(watchdog_ended(late.watch));
    hang_up(&late);
    hang_up(&early);
    watchdog_destroy(dog);
}

static void test_removal(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line line[3] = {dial_on(dog, 1), dial_on(dog, 1), dial_on(dog, 1)};
    for (int i = 0; i < 3; i++) {
        watchdog_enter(line[i].watch, WATCH_BODY, SHORT_MS, NULL);
    }
    watchdog_remove(line[1].watch); /* in the middle, then at the ends */
    watchdog_remove(line[0].watch);
    watchdog_remove(line[2].watch);
    assert_true(silent(&line[1], QUIET_MS));
    for (int i = 0; i < 3; i++) {
        assert_true(silent(&line[i], 0));
        assert_int_equal(write(line[i].server, "x", 1), 1);
        close(line[i].server);
        close(line[i].client);
    }
    watchdog_remove(NULL);
    watchdog_enter(NULL, WATCH_BODY, 0, NULL);
    assert_false(watchdog_ended(NULL));
    watchdog_destroy(dog);
    watchdog_destroy(NULL);
}

/* An expired watch stays expired, and nothing more is sent. */
static void test_expired_stays(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line line = dial(dog);
    char text[2048];
    watchdog_enter(line.watch, WATCH_BODY, -1000, "a");
    assert_true(receive(&line, text, sizeof text) > 0);
    watchdog_enter(line.watch, WATCH_HEADERS, SHORT_MS, "b");
    struct timespec pause = {0, 2 * SHORT_MS * 1000000L};
    nanosleep(&pause, NULL);
    assert_int_equal(receive(&line, text, sizeof text), 0);
    assert_true(watchdog_ended(line.watch));
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
    watchdog_enter(stuck.watch, WATCH_BODY, SHORT_MS, NULL);
    watchdog_enter(other.watch, WATCH_IDLE, 2 * SHORT_MS, NULL);
    char text[16];
    assert_int_equal(receive(&other, text, sizeof text), 0);
    assert_true(watchdog_ended(stuck.watch));
    hang_up(&stuck);
    hang_up(&other);
    watchdog_destroy(dog);
}

/* A start that fails closes what it has opened. */
static void test_no_descriptors(void **state) {
    (void)state;
    struct rlimit whole, low;
    struct watchdog *dog = NULL;
    struct watchdog_limits limits = {.soft = 1, .header_ms = LONG_MS};
    int lowest = dup(STDERR_FILENO); /* the first that is free */
    assert_true(lowest >= 0);
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
    low = (struct rlimit){(rlim_t)lowest + 1, whole.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    enum status status = watchdog_create(&dog, &limits, &(struct error){0});
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
    int next = dup(STDERR_FILENO);
    close(next);
    assert_int_equal(status, ST_BUSY);
    assert_null(dog);
    assert_int_equal(next, lowest);
}

/* A client that has sent its request may close its side; while the work lasts that is one event. */
static void test_a_closed_side_is_noticed_once(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line line = dial(dog);
    wait_ms(QUIET_MS);
    unsigned before = rounds;
    assert_int_equal(shutdown(line.client, SHUT_WR), 0);
    wait_ms(QUIET_MS);
    assert_in_range(rounds - before, 1, 3);
    hang_up(&line);
    watchdog_destroy(dog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_and_body),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_earlier_deadline),
        cmocka_unit_test(test_work_has_no_deadline),
        cmocka_unit_test(test_removal),
        cmocka_unit_test(test_expired_stays),
        cmocka_unit_test(test_full_socket),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_a_closed_side_is_noticed_once),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
