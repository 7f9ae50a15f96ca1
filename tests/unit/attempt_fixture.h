/* SPDX-License-Identifier: MIT
 * Forbidden operations that a test tries in a sandbox, and whether they are refused. */
#ifndef BLURD_TESTS_UNIT_ATTEMPT_FIXTURE_H
#define BLURD_TESTS_UNIT_ATTEMPT_FIXTURE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT(text) (long)(text)
#define CALL(what, name, ...)                                                                                \
    {                                                                                                        \
        .text = what, .call = SYS_##name, .argument = { __VA_ARGS__ }                                        \
    }
#define FILES(what, name, ...)                                                                               \
    { .text = what, .call = SYS_##name, .argument = {__VA_ARGS__}, .by_landlock = true }

/* A system call with its arguments, or a function. Calls without arguments are to be refused before these
 * are looked at. */
struct attempt {
    const char *text;
    long call;
    long argument[6];
    long (*function)(void);
    bool by_landlock;
};

/* `known` gives the value of an argument that is known at run time only. */
static long attempt_call(const struct attempt *attempt, long (*known)(long argument)) {
    long argument[6];
    for (int i = 0; i < 6; i++) {
        argument[i] = known(attempt->argument[i]);
    }
    return syscall(attempt->call, argument[0], argument[1], argument[2], argument[3], argument[4],
                   argument[5]);
}

static bool is_blocked(const struct attempt *attempt, long (*known)(long argument), bool landlock) {
    if (attempt->by_landlock && !landlock) {
        return true; /* not this kernel's to refuse */
    }
    errno = 0;
    long result = attempt->function ? attempt->function() : attempt_call(attempt, known);
    return result == -1 && (errno == ENOSYS || errno == EPERM || errno == EACCES);
}

#endif
