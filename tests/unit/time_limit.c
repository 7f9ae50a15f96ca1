/* SPDX-License-Identifier: MIT */
#include "tests/unit/time_limit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Not SIGALRM, with which the code that is tested limits its own processes. */
enum { LIMIT_SIGNAL = SIGVTALRM };

__attribute__((weak)) unsigned time_limit_seconds = TIME_LIMIT_USUAL;

static struct {
    const struct CMUnitTest *tests; /* the program's */
    size_t count, next;
    char message[256]; /* of the test that runs: the handler must not format */
    timer_t timer;
} limit;

static void end_program(int number) {
    (void)number;
    ssize_t written = write(STDERR_FILENO, limit.message, strlen(limit.message));
    (void)written;
    _exit(1);
}

/* Tests of signals may have blocked it. A child has no timer of its parent. */
static void arm(unsigned seconds) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, LIMIT_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    timer_settime(limit.timer, 0, &(struct itimerspec){.it_value.tv_sec = seconds}, NULL);
}

/* The set-up of every test: cmocka calls them in the order of the table. */
static int begin_test(void **state) {
    const struct CMUnitTest *test = &limit.tests[limit.next++ % limit.count];
    const char *factor = getenv("TIME_LIMIT_FACTOR");
    unsigned seconds = time_limit_seconds * (factor ? (unsigned)strtoul(factor, NULL, 10) : 1);
    snprintf(limit.message, sizeof limit.message, "[  FAILED  ] %s: it has not ended within its %u s\n",
             test->name, seconds);
    arm(seconds);
    return test->setup_func ? test->setup_func(state) : 0;
}

static void open_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = LIMIT_SIGNAL};
    struct sigaction action = {.sa_handler = end_program};
    if (sigaction(LIMIT_SIGNAL, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &limit.timer) != 0) {
        perror("time_limit");
        exit(1);
    }
}

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
    struct CMUnitTest *limited = calloc(count, sizeof *limited);
    if (!limited) {
        return 1;
    }
    memcpy(limited, tests, count * sizeof *limited);
    for (size_t i = 0; i < count; i++) {
        limited[i].setup_func = begin_test;
    }
    limit.tests = tests, limit.count = count, limit.next = 0;
    open_timer();
    int failed = __real__cmocka_run_group_tests(name, limited, count, setup, teardown);
    timer_delete(limit.timer);
    free(limited);
    return failed;
}
