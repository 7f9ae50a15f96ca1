/* SPDX-License-Identifier: MIT
 * A test that waits for what never comes ends as a failure of that test, and one that ends in time does not.
 */
#include "tests/unit/time_limit.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

unsigned time_limit_seconds = 1;

static void in_time(void **state) {
    (void)state;
}

static void longer_than_it_may(void **state) {
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&never, &lock);
}

/* Runs them in a child, and returns how it ended; what it said is in `said`. */
static int run(const struct CMUnitTest *tests, size_t count, char *said, size_t size) {
    int pipe_ends[2], state = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(pipe_ends[1], STDOUT_FILENO);
        dup2(pipe_ends[1], STDERR_FILENO);
        close(pipe_ends[0]);
        setenv("TIME_LIMIT_FACTOR", "1", 1);
        _exit(_cmocka_run_group_tests("child", tests, count, NULL, NULL) ? 9 : 0);
    }
    close(pipe_ends[1]);
    memset(said, 0, size);
    for (size_t at = 0; at + 1 < size;) {
        ssize_t got = read(pipe_ends[0], said + at, size - 1 - at);
        if (got <= 0) {
            break;
        }
        at += (size_t)got;
    }
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void test_it_ends(void **state) {
    (void)state;
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_time), cmocka_unit_test(longer_than_it_may)};
    char said[4096];
    assert_int_equal(run(tests, 1, said, sizeof said), 0);
    assert_int_equal(run(tests, 2, said, sizeof said), 1);
    if (!strstr(said, "longer_than_it_may: it has not ended within its 1 s")) {
        fail_msg("it says:\n%s", said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_ends)};
    setenv("TIME_LIMIT_FACTOR", "30", 1); /* of this process, which waits for children */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
