/* SPDX-License-Identifier: MIT
 * Connections that are ended for other reasons than their deadline: a low rate, too many of them, the end of
 * the process. */
#include "tests/unit/server/http/watchdog_fixture.h"

/* Sends or reads `bytes` every 10 ms until the watchdog ends it or `ms` have passed. */
static enum watch_end trickle(struct line *line, enum watch_phase phase, size_t bytes, int ms) {
    static char data[1 << 16];
    int64_t until = clock_ns() + ms * INT64_C(1000000);
    while (clock_ns() < until && watchdog_ended(line->watch) == WATCH_OPEN) {
        if (phase == WATCH_BODY) {
            assert_int_equal(send(line->client, data, bytes, MSG_NOSIGNAL), bytes);
            assert_int_equal(recv(line->server, data, bytes, MSG_WAITALL), bytes);
        } else {
            while (send(line->server, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
            }
            assert_true(recv(line->client, data, bytes, 0) > 0);
        }
        wait_ms(10);
    }
    return watchdog_ended(line->watch);
}

static void test_rate(void **state) {
    (void)state;
    static const struct {
        enum watch_phase phase;
        size_t bytes; /* each 10 ms, or a little more on a busy machine */
        enum watch_end end;
    } cases[] = {
        {WATCH_BODY, 10, WATCH_SLOW},
        {WATCH_BODY, 20000, WATCH_OPEN},
        {WATCH_WRITE, 10, WATCH_SLOW},
        {WATCH_WRITE, 60000, WATCH_OPEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct watchdog *dog = start_with((struct watchdog_limits){.soft = 9, .rate = 50000, .rate_ms = 100});
        struct line line = dial(dog);
        watchdog_enter(line.watch, cases[i].phase, LONG_MS, "slow");
        int64_t begin = clock_ns();
        assert_int_equal(trickle(&line, cases[i].phase, cases[i].bytes, 700), cases[i].end);
        assert_true(clock_ns() - begin >= 100 * INT64_C(1000000));
        hang_up(&line);
        watchdog_destroy(dog);
    }
}

/* Bytes that the server has not read yet are its slowness, not the client's. */
static void test_rate_when_we_are_slow(void **state) {
    (void)state;
    struct watchdog *dog = start_with((struct watchdog_limits){.soft = 9, .rate = 50000, .rate_ms = 50});
    struct line line = dial(dog);
    assert_int_equal(write(line.client, "body", 4), 4);
    watchdog_enter(line.watch, WATCH_BODY, LONG_MS, NULL);
    assert_true(silent(&line, 4 * QUIET_MS));
    char text[2048];
    assert_int_equal(read(line.server, text, 4), 4);
    assert_true(receive(&line, text, sizeof text) > 0);
    assert_non_null(strstr(text, "minimum rate"));
    hang_up(&line);
    watchdog_destroy(dog);
}

/* A connection's second request has its deadline, too, though the watchdog is not told of its first byte. */
static void test_second_request(void **state) {
    (void)state;
    struct watchdog *dog = start_with((struct watchdog_limits){.soft = 9, .header_ms = 50});
    struct line idle = dial(dog), slow = dial(dog);
    char text[16];
    watchdog_enter(idle.watch, WATCH_IDLE, LONG_MS, NULL);
    watchdog_enter(slow.watch, WATCH_IDLE, LONG_MS, NULL);
    assert_int_equal(write(slow.client, "G", 1), 1);
    assert_int_equal(receive(&slow, text, sizeof text), 0);
    assert_int_equal(watchdog_ended(slow.watch), WATCH_LATE);
    assert_true(silent(&idle, QUIET_MS));
    hang_up(&idle);
    hang_up(&slow);
    watchdog_destroy(dog);
}

/* The connections that are idle longest are closed first, then the unused ones; work goes on. */
static void test_shedding(void **state) {
    (void)state;
    struct watchdog *dog = start_with((struct watchdog_limits){.soft = 3});
    struct line work = dial(dog), fresh = dial(dog), old = dial(dog);
    char text[16];
    watchdog_enter(work.watch, WATCH_WORK, 0, NULL);
    watchdog_enter(fresh.watch, WATCH_HEADERS, LONG_MS, NULL);
    watchdog_enter(old.watch, WATCH_IDLE, LONG_MS, NULL);
    struct line young = dial(dog);
    watchdog_enter(young.watch, WATCH_IDLE, LONG_MS, NULL);
    wait_ms(SHORT_MS);
    assert_int_equal(watchdog_ended(old.watch), WATCH_OPEN); /* its next request may be on its way */
    assert_int_equal(receive(&old, text, sizeof text), 0);
    assert_int_equal(watchdog_ended(old.watch), WATCH_SHED);
    struct line more = dial(dog);
    watchdog_enter(more.watch, WATCH_WORK, 0, NULL);
    assert_int_equal(receive(&young, text, sizeof text), 0);
    struct line last = dial(dog);
    watchdog_enter(last.watch, WATCH_WORK, 0, NULL);
    assert_int_equal(receive(&fresh, text, sizeof text), 0);
    assert_true(silent(&work, 0) && silent(&more, 0) && silent(&last, 0));
    struct line *all[] = {&work, &fresh, &old, &young, &more, &last};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        hang_up(all[i]);
    }
    watchdog_destroy(dog);
}

/* Which connections are the oldest does not depend on their event threads. */
static void test_oldest_first(void **state) {
    (void)state;
    enum { LINES = 6, LEFT = 2 };
    static const unsigned threads[LINES] = {31, 3, 64, 3, 0, 17};
    struct watchdog *dog = start_with((struct watchdog_limits){.soft = LINES});
    struct line line[LINES];
    for (int i = 0; i < LINES; i++) {
        line[i] = dial_on(dog, threads[i]);
        watchdog_enter(line[i].watch, WATCH_WORK, 0, NULL);
    }
    for (int i = LINES - 1; i >= 0; i--) { /* the last one is the oldest */
        watchdog_enter(line[i].watch, WATCH_IDLE, LONG_MS, NULL);
    }
    wait_ms(QUIET_MS);
    watchdog_configure(dog, &(struct watchdog_limits){.soft = LEFT, .header_ms = LONG_MS});
    char text[16];
    for (int i = LINES - 1; i >= LEFT; i--) {
        assert_int_equal(receive(&line[i], text, sizeof text), 0);
        assert_int_equal(watchdog_ended(line[i].watch), WATCH_SHED);
    }
    assert_true(silent(&line[0], QUIET_MS) && silent(&line[1], 0));
    for (int i = 0; i < LINES; i++) {
        hang_up(&line[i]);
    }
    watchdog_destroy(dog);
}

static void test_crowded(void **state) {
    (void)state;
    struct watchdog *dog = start_with((struct watchdog_limits){.soft = 1});
    struct line first = dial(dog), second = dial(dog);
    watchdog_enter(first.watch, WATCH_WORK, 0, NULL);
    watchdog_enter(second.watch, WATCH_WORK, 0, NULL);
    wait_ms(QUIET_MS);
    assert_true(watchdog_wants_last(dog));
    assert_false(watchdog_wants_last(dog)); /* one less is enough */
    hang_up(&second);
    wait_ms(QUIET_MS);
    assert_false(watchdog_wants_last(dog));
    char text[16];
    watchdog_enter(first.watch, WATCH_IDLE, LONG_MS, NULL);
    watchdog_relieve(dog); /* at any number of connections */
    assert_int_equal(receive(&first, text, sizeof text), 0);
    wait_ms(SHORT_MS);
    assert_true(watchdog_wants_last(dog));
    hang_up(&first);
    watchdog_destroy(dog);
}

static void test_drain(void **state) {
    (void)state;
    struct watchdog *dog = start();
    struct line idle = dial(dog), fresh = dial(dog), body = dial(dog), pending = dial(dog);
    char text[16];
    watchdog_enter(idle.watch, WATCH_IDLE, LONG_MS, NULL);
    watchdog_enter(fresh.watch, WATCH_HEADERS, LONG_MS, NULL);
    watchdog_enter(body.watch, WATCH_BODY, LONG_MS, "a");
    watchdog_enter(pending.watch, WATCH_IDLE, LONG_MS, NULL);
    assert_int_equal(write(pending.client, "G", 1), 1); /* its next request is on its way */
    int64_t begin = clock_ns();
    watchdog_drain(dog);
    assert_int_equal(receive(&idle, text, sizeof text), 0);
    assert_true(silent(&fresh, QUIET_MS) && silent(&pending, 0));
    assert_int_equal(receive(&fresh, text, sizeof text), 0);
    assert_true(clock_ns() - begin >= 1000 * INT64_C(1000000));
    assert_true(silent(&body, 0) && silent(&pending, 0));
    watchdog_enter(body.watch, WATCH_IDLE, LONG_MS, NULL);
    assert_int_equal(receive(&body, text, sizeof text), 0);
    hang_up(&idle);
    hang_up(&fresh);
    hang_up(&body);
    hang_up(&pending);
    watchdog_destroy(dog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),           cmocka_unit_test(test_rate_when_we_are_slow),
        cmocka_unit_test(test_second_request), cmocka_unit_test(test_shedding),
        cmocka_unit_test(test_oldest_first),   cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_drain),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("watchdog_limits", tests, NULL, NULL);
}
