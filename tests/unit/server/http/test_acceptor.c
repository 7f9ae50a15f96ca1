/* SPDX-License-Identifier: MIT
 * How connections are accepted and shared among event threads. */
#include "core/log.h"
#include "server/http/acceptor.h"
#include "server/http/loop.h"
#include "server/http/watchdog.h"
#include "server/metrics.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { THREADS = 3, MOST = 7, TIMEOUT_MS = 5000, QUIET_MS = 50 };

struct desk {
    int listener, idle; /* `idle`: an eventfd for loops without work */
    struct sockaddr_in address;
    struct intakes intakes;
    struct metrics *metrics;
    struct watchdog *watchdog;
    struct acceptor *acceptor;
};

static _Atomic int refusal; /* why no connection is accepted; 0: they are */
static _Atomic unsigned tries;

/* In place of the C library's. */
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
    tries++;
    errno = refusal;
    return refusal ? -1 : (int)syscall(SYS_accept4, fd, address, size, flags);
}

static int64_t nothing(void *context) {
    (void)context;
    return -1;
}

static void set_up(struct desk *desk, bool listens) {
    struct error err;
    socklen_t size = sizeof desk->address;
    *desk = (struct desk){.address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                          .intakes = {.count = THREADS}};
    desk->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    desk->idle = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(bind(desk->listener, (struct sockaddr *)&desk->address, size), 0);
    assert_true(!listens || listen(desk->listener, 64) == 0);
    assert_int_equal(getsockname(desk->listener, (struct sockaddr *)&desk->address, &size), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(loop_start(&desk->intakes.each[i].loop, "test", desk->idle, nothing, desk, &err),
                         ST_OK);
    }
    desk->metrics = metrics_create((const char *const[]){"blur"}, 1);
    assert_non_null(desk->metrics);
    struct watchdog_limits limits = {.soft = 1000, .header_ms = TIMEOUT_MS};
    assert_int_equal(watchdog_create(&desk->watchdog, &limits, &err), ST_OK);
    const struct acceptor_options options = {.listen_fd = desk->listener,
                                             .most = MOST,
                                             .intakes = &desk->intakes,
                                             .metrics = desk->metrics,
                                             .watchdog = desk->watchdog};
    assert_int_equal(acceptor_start(&desk->acceptor, &options, &err), ST_OK);
}

static void tear_down(struct desk *desk) {
    acceptor_close(desk->acceptor);
    for (unsigned i = 0; i < THREADS; i++) {
        loop_stop(desk->intakes.each[i].loop);
    }
    acceptor_destroy(desk->acceptor);
    watchdog_destroy(desk->watchdog);
    metrics_destroy(desk->metrics);
    close(desk->listener);
    close(desk->idle);
}

/* What blurd_accept_failures_total says. */
static long failures(const struct desk *desk) {
    struct buf page;
    struct error err;
    buf_init(&page, METRICS_PAGE_MAX);
    assert_int_equal(metrics_write(desk->metrics, "1", &page, &err), ST_OK);
    assert_int_equal(buf_append(&page, "", 1, &err), ST_OK);
    const char *line = strstr((const char *)page.data, "\nblurd_accept_failures_total ");
    assert_non_null(line);
    long count = strtol(strchr(line, ' '), NULL, 10);
    buf_finish(&page);
    return count;
}

static int dial(const struct desk *desk) {
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&desk->address, sizeof desk->address), 0);
    return client;
}

static void wait_ms(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

/* Waits until so many connections are open. */
static void await(struct desk *desk, unsigned open) {
    for (int ms = 0; atomic_load(&desk->intakes.open) != open; ms++) {
        assert_true(ms < TIMEOUT_MS);
        wait_ms(1);
    }
}

/* Ends all connections that the thread has got; returns how many, whose order is that of the clients' ports.
 */
static unsigned end_all(struct desk *desk, unsigned thread, const int *clients, unsigned first) {
    unsigned count = 0;
    struct intake *intake = &desk->intakes.each[thread];
    for (struct arrival *next, *arrival = intake_take(intake); arrival; arrival = next, count++) {
        struct sockaddr_in own;
        socklen_t size = sizeof own;
        next = arrival->next;
        assert_int_equal(getsockname(clients[first + count * THREADS], (struct sockaddr *)&own, &size), 0);
        assert_int_equal(arrival->size, size);
        assert_int_equal(((struct sockaddr_in *)&arrival->address)->sin_port, own.sin_port);
        close(arrival->fd);
        free(arrival);
        intake_release(&desk->intakes, intake, desk->acceptor);
    }
    return count;
}

/* Each thread gets as many, in the order in which they came, up to the limit; then an end makes room. */
static void test_shares(void **state) {
    (void)state;
    static struct desk desk;
    int clients[MOST + 2];
    set_up(&desk, true);
    for (unsigned i = 0; i < MOST + 2; i++) {
        clients[i] = dial(&desk);
        await(&desk, i < MOST ? i + 1 : MOST);
    }
    wait_ms(QUIET_MS);
    assert_int_equal(atomic_load(&desk.intakes.open), MOST);
    assert_null(intake_take(&(struct intake){0}));
    assert_int_equal(end_all(&desk, 2, clients, 2), 2);
    await(&desk, MOST); /* the two that waited */
    assert_int_equal(atomic_load(&desk.intakes.each[0].open), 3);
    assert_int_equal(atomic_load(&desk.intakes.each[1].open), 2);
    assert_int_equal(atomic_load(&desk.intakes.each[2].open), 2);
    acceptor_close(desk.acceptor);
    assert_int_equal(end_all(&desk, 0, clients, 0), 3);
    int late = dial(&desk); /* the kernel takes it, and it stays there */
    wait_ms(QUIET_MS);
    assert_int_equal(atomic_load(&desk.intakes.open), MOST - 3);
    end_all(&desk, 1, clients, 1);
    for (struct arrival *next, *arrival = intake_take(&desk.intakes.each[2]); arrival; arrival = next) {
        next = arrival->next;
        close(arrival->fd);
        free(arrival);
    }
    for (unsigned i = 0; i < MOST + 2; i++) {
        close(clients[i]);
    }
    close(late);
    tear_down(&desk);
}

/* Where accept fails all the time, it is tried ten times a second. */
static void test_lasting_failure(void **state) {
    (void)state;
    static struct desk desk;
    set_up(&desk, false);
    for (int ms = 0; failures(&desk) < 2; ms++) {
        assert_true(ms < TIMEOUT_MS);
        wait_ms(1);
    }
    wait_ms(QUIET_MS);
    assert_in_range(failures(&desk), 2, 20);
    assert_int_equal(atomic_load(&desk.intakes.open), 0);
    tear_down(&desk);
}

/* Connections are closed where accept fails for want of memory or descriptors, and for no other reason. */
static void test_scarcity(void **state) {
    (void)state;
    static struct desk desk;
    const struct {
        int why;
        bool scarce;
    } cases[] = {{EMFILE, true}, {ENFILE, true}, {ENOBUFS, true}, {ENOMEM, true}, {EPERM, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refusal = cases[i].why;
        set_up(&desk, true);
        int client = dial(&desk);
        for (int ms = 0; failures(&desk) < 2; ms++) { /* what the first one leads to is done */
            assert_true(ms < TIMEOUT_MS);
            wait_ms(1);
        }
        assert_int_equal(watchdog_wants_last(desk.watchdog), cases[i].scarce);
        close(client);
        tear_down(&desk);
    }
    refusal = 0;
}

/* While there is room the end of a connection is no reason to look for new ones. */
static void test_an_end_with_room(void **state) {
    (void)state;
    static struct desk desk;
    set_up(&desk, true);
    int client = dial(&desk);
    await(&desk, 1);
    wait_ms(QUIET_MS);
    unsigned before = tries;
    assert_int_equal(end_all(&desk, 0, &client, 0), 1);
    wait_ms(QUIET_MS);
    assert_int_equal(tries, before);
    close(client);
    tear_down(&desk);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares), cmocka_unit_test(test_lasting_failure),
                                       cmocka_unit_test(test_scarcity),
                                       cmocka_unit_test(test_an_end_with_room)};
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests_name("acceptor", tests, NULL, NULL);
}
