/* SPDX-License-Identifier: MIT
 * One connection from phase to phase: a later phase is independent of earlier ones. The clock is the
 * test's, so no time passes. */
#include "server/http/peer.h"
#include "server/http/watch.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { PHASE_MS = 1000, RATE = 1000, RATE_MS = 500, HOUR_MS = 3600 * 1000 };

static struct {
    struct watch_rules rules;
    struct watch watch;
    int client;
} line;

static int dial(void **state) {
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    line.client = socket(AF_INET, SOCK_STREAM, 0);
    bool fine = bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&address, &size) == 0 &&
                connect(line.client, (struct sockaddr *)&address, size) == 0;
    line.rules = (struct watch_rules){
        .limits = {.soft = 9, .rate = RATE, .rate_ms = RATE_MS, .header_ms = HOUR_MS}, .open = 1};
    line.watch = (struct watch){.rules = &line.rules, .fd = accept(listener, NULL, NULL)};
    close(listener);
    return fine && line.watch.fd >= 0 ? 0 : -1;
}

static int hang_up(void **state) {
    (void)state;
    close(line.watch.fd);
    close(line.client);
    return 0;
}

/* So many bytes come; `read`: the server takes them. */
static void come(size_t bytes, bool read) {
    static char data[1 << 16];
    assert_int_equal(send(line.client, data, bytes, MSG_NOSIGNAL), bytes);
    assert_int_equal(recv(line.watch.fd, data, bytes, MSG_WAITALL | (read ? 0 : MSG_PEEK)), bytes);
}

static enum watch_end look_at(int64_t when) {
    watch_check(&line.watch, when);
    return line.watch.end;
}

/* At each end of an idle phase a request that lies unread gets time, not only at the first. */
static void test_time_for_what_is_unread(void **state) {
    (void)state;
    for (int request = 0; request < 3; request++) {
        watch_enter(&line.watch, WATCH_IDLE, PHASE_MS, NULL);
        come(1, false);
        int64_t deadline = line.watch.deadline;
        assert_int_equal(look_at(deadline), WATCH_OPEN);
        assert_true(line.watch.deadline > deadline);
        come(1, true);
        watch_enter(&line.watch, WATCH_WORK, 0, "a");
    }
    watch_enter(&line.watch, WATCH_IDLE, PHASE_MS, NULL);
    come(1, false);
    assert_int_equal(look_at(line.watch.deadline), WATCH_OPEN);
    assert_int_equal(look_at(line.watch.deadline), WATCH_LATE); /* once in a phase */
}

/* The deadline and the look at the rate are those of the phase that was begun last. */
static void test_a_new_deadline(void **state) {
    (void)state;
    watch_enter(&line.watch, WATCH_BODY, PHASE_MS, "a");
    watch_enter(&line.watch, WATCH_WORK, 0, NULL);
    assert_int_equal(look_at(line.watch.since + HOUR_MS * MS), WATCH_OPEN);
    assert_int_equal(watch_next(&line.watch), INT64_MAX);
    watch_enter(&line.watch, WATCH_HEADERS, HOUR_MS, NULL);
    assert_int_equal(look_at(line.watch.since + 2 * PHASE_MS * MS), WATCH_OPEN);
    watch_enter(&line.watch, WATCH_HEADERS, PHASE_MS, "b");
    assert_int_equal(watch_next(&line.watch), line.watch.since + PHASE_MS * MS);
    assert_int_equal(look_at(line.watch.deadline - 1), WATCH_OPEN);
    assert_int_equal(look_at(line.watch.deadline), WATCH_LATE);
}

/* Bytes of the first body do not count for the second one. */
static void test_a_rate_of_its_own(void **state) {
    (void)state;
    watch_enter(&line.watch, WATCH_BODY, HOUR_MS, "a");
    come(1, true);
    if (peer_received(line.watch.fd) == 0) {
        skip(); /* a kernel that does not count */
    }
    come(RATE * 10, true);
    assert_int_equal(look_at(line.watch.measure_at), WATCH_OPEN);
    watch_enter(&line.watch, WATCH_BODY, HOUR_MS, "b");
    come(1, true);
    assert_int_equal(look_at(line.watch.measure_at), WATCH_SLOW);
}

/* The 408 names the request that was late, or none. */
static void test_an_id_of_its_own(void **state) {
    (void)state;
    char text[2048] = "";
    watch_enter(&line.watch, WATCH_BODY, PHASE_MS, "the-first-request");
    watch_enter(&line.watch, WATCH_IDLE, PHASE_MS, NULL);
    watch_enter(&line.watch, WATCH_HEADERS, PHASE_MS, NULL);
    come(1, true);
    assert_int_equal(look_at(line.watch.deadline), WATCH_LATE);
    assert_true(recv(line.client, text, sizeof text - 1, MSG_WAITALL) > 0);
    assert_memory_equal(text, "HTTP/1.1 408 ", 13);
    assert_null(strstr(text, "the-first-request"));
    assert_null(strstr(text, "X-Request-Id"));
    assert_int_equal(line.rules.open, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_time_for_what_is_unread, dial, hang_up),
        cmocka_unit_test_setup_teardown(test_a_new_deadline, dial, hang_up),
        cmocka_unit_test_setup_teardown(test_a_rate_of_its_own, dial, hang_up),
        cmocka_unit_test_setup_teardown(test_an_id_of_its_own, dial, hang_up),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
