/* SPDX-License-Identifier: MIT
 * Forbidden operations that a test tries in a sandbox, whether they are refused, and processes to try them
 * in. */
#ifndef BLURD_TESTS_UNIT_FAILOVER_FIXTURE_H
#define BLURD_TESTS_UNIT_FAILOVER_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sanitizers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define TEXT(text) (long)(text)
#define CALL(what, name, ...)                                                                                \
    {                                                                                                        \
        .text = what, .call = SYS_##name, .argument = { __VA_ARGS__ }                                        \
    }
#define FILES(what, name, ...)                                                                               \
    { .text = what, .call = SYS_##name, .argument = {__VA_ARGS__}, .by_landlock = true }

/* A system call with its arguments, or a function. Calls without arguments are to be refused before these
 * are looked at. Two layers refuse, each by an errno of its own, which tells whose hole the other one covers:
 * the list of calls by ENOSYS, before Landlock sees the call, and Landlock by EACCES. */
struct failover {
    const char *text;
    long call;
    long argument[6];
    long (*function)(void);
    bool by_landlock;
};

/* `known` gives the value of an argument that is known at run time only. */
static inline long failover_call(const struct failover *failover, long (*known)(long argument)) {
    long argument[6];
    for (int i = 0; i < 6; i++) {
        argument[i] = known(failover->argument[i]);
    }
    return syscall(failover->call, argument[0], argument[1], argument[2], argument[3], argument[4],
                   argument[5]);
}

static inline bool is_blocked(const struct failover *failover, long (*known)(long argument), bool landlock) {
    if (failover->by_landlock && !landlock) {
        return true; /* not this kernel's to refuse */
    }
    errno = 0;
    long result = failover->function ? failover->function() : failover_call(failover, known);
    return result == -1 && errno == (failover->by_landlock ? EACCES : ENOSYS);
}

enum { CHILD_SKIPS = 77 };

/* Runs the function in a process of its own, which may enter a sandbox. The test fails unless it returns 0,
 * and is skipped where it returns CHILD_SKIPS. */
static inline void check_child(int (*child)(void)) {
    if (SANITIZED) {
        skip(); /* a sanitizer needs the calls that sandboxes forbid */
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(child());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPS) {
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
