/* SPDX-License-Identifier: MIT
 * A process that the daemon has forked comes back when it dies, and does not delay the end of the daemon. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/process/fork_server.h"
/* last, see CONTRIBUTING.md */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WAIT_MS = 20000, SOON_MS = 900 };

/* Answers each message with its own process number, until the daemon's end is closed. */
static void echo(void *context) {
    int *calls = context;
    pid_t own = getpid();
    char message;
    while (recv(FORK_SERVER_FD, &message, 1, 0) == 1) {
        *calls += 1;
        send(FORK_SERVER_FD, &own, sizeof own, MSG_NOSIGNAL);
    }
}

static void fall(void *context) {
    (void)context;
}

static pid_t ask(const struct fork_server *server) {
    struct pollfd answer = {.fd = server->socket, .events = POLLIN};
    pid_t pid = 0;
    assert_int_equal(send(server->socket, "?", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(poll(&answer, 1, WAIT_MS), 1);
    assert_int_equal(recv(server->socket, &pid, sizeof pid, 0), sizeof pid);
    return pid;
}

static struct fork_server start(void (*run)(void *)) {
    static int calls;
    struct fork_server server;
    struct error err = {0};
    assert_int_equal(fork_server_start(&server, "test-helper", run, &calls, &err), ST_OK);
    return server;
}

static bool becomes(const struct fork_server *server, bool runs) {
    int64_t until = clock_ns() + WAIT_MS * INT64_C(1000000);
    while (fork_server_runs(server) != runs && clock_ns() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return fork_server_runs(server) == runs;
}

static bool exists(pid_t pid) {
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* A process that dies may take one message with it, so wait until it is gone. */
static void end(pid_t pid) {
    int64_t until = clock_ns() + WAIT_MS * INT64_C(1000000);
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (exists(pid) && clock_ns() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_false(exists(pid));
}

static void test_a_process_that_dies_comes_back(void **state) {
    (void)state;
    struct fork_server server = start(echo);
    pid_t first = ask(&server);
    assert_int_not_equal(first, server.pid);
    assert_true(fork_server_runs(&server));
    for (unsigned i = 0; i < 3; i++) {
        end(first);
        pid_t next = ask(&server); /* the channel keeps what is sent meanwhile */
        assert_int_not_equal(next, first);
        first = next;
    }
    assert_true(becomes(&server, true));
    fork_server_end(&server);
    assert_false(exists(first));
    assert_false(exists(server.pid));
}

static void test_one_that_ends_at_once_is_not_started_all_the_time(void **state) {
    (void)state;
    struct fork_server server = start(fall);
    assert_true(becomes(&server, false)); /* it waits for a second */
    assert_true(becomes(&server, true));
    int64_t begin = clock_ns();
    fork_server_end(&server);
    assert_true(clock_ns() - begin < SOON_MS * INT64_C(1000000));
}

static void test_it_serves_without_its_keeper(void **state) {
    (void)state;
    struct fork_server server = start(echo);
    pid_t process = ask(&server);
    kill(server.pid, SIGKILL);
    assert_int_equal(ask(&server), process);
    assert_true(fork_server_runs(&server));
    kill(process, SIGKILL); /* nobody is left to start it again */
    assert_true(becomes(&server, false));
    fork_server_end(&server);
}

/* The keeper wakes it up, so that it ends as usual. */
static void test_a_stopped_process_does_not_delay_the_end(void **state) {
    (void)state;
    struct fork_server server = start(echo);
    pid_t process = ask(&server);
    kill(process, SIGSTOP);
    int64_t begin = clock_ns();
    fork_server_end(&server);
    assert_true(clock_ns() - begin < SOON_MS * INT64_C(1000000));
    assert_false(exists(process));
}

static void stay(void *context) {
    (void)context;
    for (;;) {
        pause();
    }
}

static void test_one_that_does_not_end_is_killed(void **state) {
    (void)state;
    struct fork_server server = start(stay);
    int64_t begin = clock_ns();
    fork_server_end(&server);
    assert_true(clock_ns() - begin < 5 * INT64_C(1000000000));
    assert_false(exists(server.pid));
}

/* With its process or without it. The kernel wakes the keeper up, and that the process. */
static void test_a_stopped_keeper_does_not_delay_the_end(void **state) {
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct fork_server server = start(echo);
        pid_t process = ask(&server);
        kill(server.pid, SIGSTOP);
        assert_int_equal(waitpid(server.pid, NULL, WUNTRACED), server.pid);
        if (both) {
            kill(process, SIGSTOP);
        }
        int64_t begin = clock_ns();
        fork_server_end(&server);
        assert_true(clock_ns() - begin < SOON_MS * INT64_C(1000000));
        assert_false(exists(server.pid) || exists(process));
    }
}

/* As under a debugger. */
static void test_a_keeper_that_cannot_go_on_is_left_behind(void **state) {
    (void)state;
    struct fork_server server = start(echo);
    ask(&server);
    assert_int_equal(ptrace(PTRACE_SEIZE, server.pid, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, server.pid, NULL, NULL), 0);
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
    int64_t begin = clock_ns();
    fork_server_end(&server);
    assert_true(clock_ns() - begin < 7 * INT64_C(1000000000));
    assert_true(exists(server.pid));
    assert_int_equal(ptrace(PTRACE_DETACH, server.pid, NULL, NULL), 0);
    assert_int_equal(waitpid(server.pid, NULL, 0), server.pid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_that_dies_comes_back),
        cmocka_unit_test(test_one_that_ends_at_once_is_not_started_all_the_time),
        cmocka_unit_test(test_it_serves_without_its_keeper),
        cmocka_unit_test(test_a_stopped_process_does_not_delay_the_end),
        cmocka_unit_test(test_one_that_does_not_end_is_killed),
        cmocka_unit_test(test_a_stopped_keeper_does_not_delay_the_end),
        cmocka_unit_test(test_a_keeper_that_cannot_go_on_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
