/* SPDX-License-Identifier: MIT
 * The process that posts spans measures its waits with the monotonic clock, which cannot be set. These tests
 * replace the wall clock by one that is an hour ahead or behind, as after somebody has set it: the waits must
 * not change. */
#include "server/tracing/collector.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/tracing/span.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { RECORDS = 100, STEP_S = 3600, TIMEOUT_MS = 20 * COLLECTOR_INTERVAL_MS };

static int step; /* seconds that the wall clock is ahead */

/* In place of the C library's. The kernel, which ends the waits, has the true time. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += clock == CLOCK_REALTIME ? step : 0;
    return result;
}

struct station { /* the collector's process and the endpoint that it posts to */
    int listener, records;
    pid_t process;
    struct collector_counts *counts; /* shared */
};

static void listen_on(struct station *station, struct collector_options *options) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    station->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(station->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(station->listener, 1), 0);
    assert_int_equal(getsockname(station->listener, (struct sockaddr *)&address, &size), 0);
    *options = (struct collector_options){.endpoint = {.host = "127.0.0.1", .path = "/v1/traces"},
                                          .counts = station->counts};
    snprintf(options->endpoint.port, sizeof options->endpoint.port, "%d", ntohs(address.sin_port));
}

static void open_station(struct station *station) {
    struct collector_options options;
    int pair[2];
    station->counts =
        mmap(NULL, sizeof *station->counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(station->counts, MAP_FAILED);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    listen_on(station, &options);
    station->process = fork();
    if (station->process == 0) {
        close(pair[0]);
        collector_run(&options, pair[1]);
        _exit(0);
    }
    close(pair[1]);
    station->records = pair[0];
}

static bool waits_for(int fd) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, TIMEOUT_MS) == 1;
}

/* Takes one message: its head, and the body of the length that the head says. */
static bool take_message(int listener) {
    static char text[1 << 20];
    size_t size = 0, whole = SIZE_MAX;
    if (!waits_for(listener)) {
        return false;
    }
    int connection = accept(listener, NULL, NULL);
    while (size < whole) {
        ssize_t more = recv(connection, text + size, sizeof text - 1 - size, 0);
        assert_true(more > 0);
        text[size += (size_t)more] = '\0';
        const char *length = strstr(text, "Content-Length: "), *body = strstr(text, "\r\n\r\n");
        if (length && body) {
            whole = (size_t)(body + 4 - text) + strtoul(length + strlen("Content-Length: "), NULL, 10);
        }
    }
    static const char answer[] = "HTTP/1.1 200 OK\r\n\r\n";
    assert_int_equal(send(connection, answer, strlen(answer), MSG_NOSIGNAL), strlen(answer));
    while (recv(connection, text, sizeof text, 0) > 0) {
    }
    close(connection);
    return true;
}

static bool eventually(const _Atomic int64_t *number, int64_t wanted) {
    for (int64_t until = clock_ns() + TIMEOUT_MS * INT64_C(1000000);
         *number != wanted && clock_ns() < until;) {
        poll(NULL, 0, 1);
    }
    return *number == wanted;
}

/* One message has all records that come within the interval, and comes when the interval is over. */
static void check_interval(int ahead) {
    static const struct span_record record = {.method = "GET", .path = "/blur"};
    struct station station;
    step = ahead;
    open_station(&station);
    int64_t begin = clock_ns();
    for (unsigned i = 0; i < RECORDS; i++) {
        assert_int_equal(send(station.records, &record, sizeof record, 0), sizeof record);
    }
    bool came = take_message(station.listener);
    int64_t waited = clock_ns() - begin;
    close(station.listener);
    close(station.records);
    if (!came) {
        kill(station.process, SIGKILL);
    }
    assert_int_equal(waitpid(station.process, NULL, 0), station.process);
    assert_true(came);
    assert_true(waited >= COLLECTOR_INTERVAL_MS * INT64_C(1000000));
    assert_int_equal(station.counts->exported, RECORDS);
    munmap(station.counts, sizeof *station.counts);
}

static void test_a_clock_that_is_set_back(void **state) {
    (void)state;
    check_interval(STEP_S);
}

static void test_a_clock_that_is_set_forward(void **state) {
    (void)state;
    check_interval(-STEP_S);
}

static void close_station(struct station *station) {
    close(station->listener);
    close(station->records);
    assert_int_equal(waitpid(station->process, NULL, 0), station->process);
    munmap(station->counts, sizeof *station->counts);
}

/* A record that is cut short is left out, and those behind it are posted. */
static void test_a_part_of_a_record(void **state) {
    (void)state;
    static const struct span_record record = {.method = "GET", .path = "/blur"};
    struct station station;
    open_station(&station);
    assert_int_equal(send(station.records, &record, 9, 0), 9);
    assert_int_equal(send(station.records, &record, sizeof record, 0), sizeof record);
    assert_true(take_message(station.listener));
    assert_true(eventually(&station.counts->exported, 1));
    close_station(&station);
}

/* It is posted as soon as it is full. */
static void test_a_full_batch(void **state) {
    (void)state;
    static const struct span_record record = {.method = "GET", .path = "/blur"};
    struct station station;
    open_station(&station);
    int64_t begin = clock_ns();
    for (unsigned i = 0; i < COLLECTOR_BATCH; i++) {
        assert_int_equal(send(station.records, &record, sizeof record, 0), sizeof record);
    }
    assert_true(waits_for(station.listener));
    int64_t waited = clock_ns() - begin;
    assert_true(take_message(station.listener));
    assert_true(eventually(&station.counts->exported, COLLECTOR_BATCH));
    assert_true(waited < COLLECTOR_INTERVAL_MS * INT64_C(1000000));
    close_station(&station);
}

/* An endpoint that ends the connection before it has read the message gets the next one. */
static void test_an_endpoint_that_does_not_read(void **state) {
    (void)state;
    static struct span_record record = {.method = "GET"};
    struct station station;
    struct linger at_once = {.l_onoff = 1};
    memset(record.path, 'p', sizeof record.path - 1);
    open_station(&station);
    for (unsigned i = 0; i < COLLECTOR_BATCH; i++) {
        assert_int_equal(send(station.records, &record, sizeof record, 0), sizeof record);
    }
    assert_true(waits_for(station.listener));
    int connection = accept(station.listener, NULL, NULL);
    assert_true(waits_for(connection));
    setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(connection);
    assert_true(eventually(&station.counts->dropped, COLLECTOR_BATCH));
    assert_int_equal(send(station.records, &record, sizeof record, 0), sizeof record);
    assert_true(take_message(station.listener));
    close_station(&station);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_that_is_set_back),
        cmocka_unit_test(test_a_clock_that_is_set_forward),
        cmocka_unit_test(test_a_part_of_a_record),
        cmocka_unit_test(test_a_full_batch),
        cmocka_unit_test(test_an_endpoint_that_does_not_read),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
