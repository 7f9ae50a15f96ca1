/* SPDX-License-Identifier: MIT
 * Two ends of a TCP connection: the watchdog sees one end, the client has the other. Deadlines are
 * short; that nothing happens is believed after a while. */
#include "core/clock.h"
#include "core/log.h"
#include "server/http/watchdog.h"

#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SHORT_MS = 30, QUIET_MS = 150, PATIENCE_MS = 5000, LONG_MS = 3600 * 1000 };

struct line {
    int server, client;
    struct watch *watch;
};

static struct watchdog *start_with(struct watchdog_limits limits) {
    struct watchdog *dog = NULL;
    struct error err = {0};
    limits.header_ms = limits.header_ms ? limits.header_ms : LONG_MS;
    assert_int_equal(watchdog_create(&dog, &limits, &err), ST_OK);
    return dog;
}

static struct watchdog *start(void) {
    return start_with((struct watchdog_limits){.soft = 1000});
}

static struct line dial(struct watchdog *dog) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    int server = accept(listener, NULL, NULL);
    assert_true(server >= 0);
    close(listener);
    struct line line = {server, client, watchdog_add(dog, server)};
    assert_non_null(line.watch);
    assert_false(watchdog_ended(line.watch));
    return line;
}

static void hang_up(struct line *line) {
    watchdog_remove(line->watch);
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
    watchdog_enter(moved.watch, WATCH_BODY, LONG_MS, NULL); /* later than what the thread waits for */
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
    struct line line[3] = {dial(dog), dial(dog), dial(dog)};
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

/* What expired stays so, and nothing more is sent. */
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

static void wait_ms(int ms) {
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

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

/* Bytes that nobody has read are our slowness, not the client's. */
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

/* A connection's second request has its deadline, too, though nobody tells of its first byte. */
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

/* Those that are idle longest go first, then those that were never used; work stays. */
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
    watchdog_relieve(dog); /* whatever the number */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_and_body),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_earlier_deadline),
        cmocka_unit_test(test_work_has_no_deadline),
        cmocka_unit_test(test_removal),
        cmocka_unit_test(test_expired_stays),
        cmocka_unit_test(test_full_socket),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_rate_when_we_are_slow),
        cmocka_unit_test(test_second_request),
        cmocka_unit_test(test_shedding),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_no_descriptors),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
