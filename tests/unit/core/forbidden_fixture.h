/* SPDX-License-Identifier: MIT
 * Forbidden operations that a test tries in a sandbox, whether they are refused, and processes to try them
 * in. */
#ifndef BLURD_TESTS_UNIT_FORBIDDEN_FIXTURE_H
#define BLURD_TESTS_UNIT_FORBIDDEN_FIXTURE_H

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
struct forbidden {
    const char *text;
    long call;
    long argument[6];
    long (*function)(void);
    bool by_landlock;
};

enum { PARENT = -1003 }; /* stands for its number */

static inline long try_fork(void) {
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    return pid;
}

static inline long try_memory_made_to_run(void) {
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(made, 4096, PROT_READ | PROT_EXEC);
}

static char forbidden_byte[1];
static struct iovec forbidden_piece = {forbidden_byte, 1};
static int forbidden_pair[2];

/* What no sandbox leaves open. */
static const struct forbidden forbidden_anywhere[] = {
    CALL("chdir", chdir, TEXT("/")),
    CALL("run a program", execve, TEXT("/bin/true")),
    {.text = "fork", .function = try_fork},
    CALL("unshare", unshare, CLONE_NEWNS),
    CALL("read another's memory", process_vm_readv, PARENT, (long)&forbidden_piece, 1, (long)&forbidden_piece,
         1),
    CALL("signal another process", kill, PARENT, 0),
    CALL("signal another's thread", tgkill, PARENT, PARENT, 0),
    CALL("open another process", pidfd_open, PARENT),
    CALL("a pair of datagram sockets", socketpair, AF_UNIX, SOCK_DGRAM, 0, (long)forbidden_pair),
    CALL("setuid", setuid, 0),
    CALL("socket AF_INET", socket, AF_INET, SOCK_STREAM),
    CALL("memory to run", mmap, 0, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1),
    {.text = "memory made to run", .function = try_memory_made_to_run},
    CALL("ptrace", ptrace, 0),
    CALL("bpf", bpf, 0),
    CALL("keyctl", keyctl, 0),
    CALL("mount", mount, 0),
    CALL("perf_event_open", perf_event_open, 0),
    CALL("userfaultfd", userfaultfd, 0),
    CALL("shmget", shmget, 0),
    CALL("io_uring_setup", io_uring_setup, 0),
    CALL("clone3", clone3, 0),
};
enum { FORBIDDEN_ANYWHERE = sizeof forbidden_anywhere / sizeof forbidden_anywhere[0] };

/* `known` gives the value of an argument that is known at run time only. */
static inline long forbidden_call(const struct forbidden *forbidden, long (*known)(long argument)) {
    long argument[6];
    for (int i = 0; i < 6; i++) {
        long given = forbidden->argument[i];
        argument[i] = given == PARENT ? getppid() : known ? known(given) : given;
    }
    return syscall(forbidden->call, argument[0], argument[1], argument[2], argument[3], argument[4],
                   argument[5]);
}

static inline bool is_blocked(const struct forbidden *forbidden, long (*known)(long argument),
                              bool landlock) {
    if (forbidden->by_landlock && !landlock) {
        return true; /* not this kernel's to refuse */
    }
    errno = 0;
    long result = forbidden->function ? forbidden->function() : forbidden_call(forbidden, known);
    return result == -1 && errno == (forbidden->by_landlock ? EACCES : ENOSYS);
}

/* How many of these attempts are refused; says which are not. */
static inline int count_refused(const struct forbidden *attempts, int count, long (*known)(long argument),
                                bool landlock, const char *where) {
    int blocked = 0;
    for (int i = 0; i < count; i++) {
        bool refused = is_blocked(&attempts[i], known, landlock);
        blocked += refused;
        if (!refused) {
            dprintf(STDOUT_FILENO, "not blocked on %s: %s (%s)\n", where, attempts[i].text, strerror(errno));
        }
    }
    return blocked;
}

/* Counts the refused calls among `attempts` and forbidden_anywhere, the calls that no sandbox permits. */
static inline int count_blocked(const struct forbidden *attempts, int count, long (*known)(long argument),
                                bool landlock, const char *where) {
    return count_refused(forbidden_anywhere, FORBIDDEN_ANYWHERE, known, landlock, where) +
           count_refused(attempts, count, known, landlock, where);
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
