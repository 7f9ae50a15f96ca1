/* SPDX-License-Identifier: MIT
 * How many event threads there are, and what the thread of an event loop does. */
#include "server/http/loop.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void test_numbers_of_threads(void **state) {
    (void)state;
    static const struct {
        unsigned wanted, cores, threads;
    } cases[] = {{0, 1, 1},   {0, 2, 1},   {0, 3, 1},    {0, 4, 2},  {0, 16, 8},
                 {0, 33, 16}, {0, 65, 32}, {0, 256, 32}, {3, 64, 3}, {64, 1, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(loop_threads(cases[i].wanted, cases[i].cores), cases[i].threads);
    }
}

struct counts {
    int fd;
    sem_t called; /* posted by each call of the work */
    unsigned jobs;
};

static int64_t work(void *context) {
    struct counts *counts = context;
    eventfd_t ignored;
    eventfd_read(counts->fd, &ignored);
    sem_post(&counts->called);
    return -1;
}

static void job(void *context) {
    ((struct counts *)context)->jobs++;
}

/* The work is called at the start and once the descriptor is readable; jobs run on the thread. */
static void test_calls(void **state) {
    (void)state;
    struct counts counts = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    struct loop *loop = NULL;
    struct error err = {0};
    sem_init(&counts.called, 0, 0);
    assert_int_equal(loop_start(&loop, "test", counts.fd, work, &counts, &err), ST_OK);
    assert_int_equal(sem_wait(&counts.called), 0);
    eventfd_write(counts.fd, 1);
    assert_int_equal(sem_wait(&counts.called), 0);
    loop_call(loop, job);
    loop_call(loop, job);
    assert_int_equal(counts.jobs, 2);
    while (sem_trywait(&counts.called) == 0) {
    }
    loop_wake(loop);
    assert_int_equal(sem_wait(&counts.called), 0);
    loop_stop(loop);
    loop_stop(NULL);
    sem_destroy(&counts.called);
    close(counts.fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers_of_threads),
                                       cmocka_unit_test(test_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
