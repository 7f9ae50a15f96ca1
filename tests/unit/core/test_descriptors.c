/* SPDX-License-Identifier: MIT */
#include "core/process/descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { MANY = 3000, LIMIT = 4000, NOTHING_TO_SEE = 77 };

/* Returns the size of the table, or -1 without /proc. */
static long table_size(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[200];
    long size = -1;
    while (file && size < 0 && fgets(line, sizeof line, file)) {
        sscanf(line, "FDSize: %ld", &size);
    }
    if (file) {
        fclose(file);
    }
    return size;
}

/* Runs in a process of its own, since tables never shrink. Returns 0, the number of what was wrong, or
 * NOTHING_TO_SEE without /proc, with a lower hard limit, and where the table is large already, as under
 * valgrind. */
static int check(void) {
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){LIMIT, LIMIT}) != 0) {
        return NOTHING_TO_SEE;
    }
    int next = dup(0);
    close(next);
    if (table_size() < 0 || table_size() >= MANY) {
        return NOTHING_TO_SEE;
    }
    descriptors_expect(0);
    descriptors_expect(LIMIT + 1);
    descriptors_expect(UINT_MAX);
    if (table_size() >= MANY) {
        return 1;
    }
    descriptors_expect(MANY);
    if (table_size() < MANY) {
        return 2;
    }
    if (fcntl(MANY - 1, F_GETFD) != -1 || dup(0) != next) {
        return 3; /* one stayed open */
    }
    return 0;
}

static void test_room(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        _exit(check());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOTHING_TO_SEE) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
