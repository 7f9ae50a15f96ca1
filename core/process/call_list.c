/* SPDX-License-Identifier: MIT
 * The table is generous on purpose: libraries differ in which of two calls they use. */
#include "core/process/call_list.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { TIMEOUT_S = 2 }; /* limit for making a list, which takes a millisecond */

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const int allowed[] = {
    /* memory; mapping calls have rules below */
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(mlock),
    SCMP_SYS(munlock),
    SCMP_SYS(membarrier),
    SCMP_SYS(memfd_create),
    /* open descriptors */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),
    SCMP_SYS(pwritev2),
    SCMP_SYS(sendfile),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(fstat),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(signalfd4),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    /* waiting */
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    /* existing sockets */
    SCMP_SYS(recvfrom),
    SCMP_SYS(shutdown),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    /* threads and their locks */
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(getcpu),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(wait4),
    /* signals to itself */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(pause),
    SCMP_SYS(restart_syscall),
    /* time and identity */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getrandom),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrusage),
    SCMP_SYS(getpriority),
    SCMP_SYS(getrlimit),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
};

enum {
    THREAD = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD,
    SPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
             CLONE_NEWNET,
};

static const struct call_rule bound[] = {
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {SCMP_SYS(clone), 0, (uint64_t)THREAD | SPACES, THREAD},
    {SCMP_SYS(ioctl), 1, CALL_WHOLE, FIONREAD},
    {SCMP_SYS(ioctl), 1, CALL_WHOLE, FIONBIO},
    {SCMP_SYS(ioctl), 1, CALL_WHOLE, TCGETS},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_GETFD},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_SETFD},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_GETFL},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_SETFL},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_ADD_SEALS}, /* seals of slots */
    {SCMP_SYS(prctl), 0, CALL_WHOLE, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, CALL_WHOLE, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, CALL_WHOLE, PR_GET_DUMPABLE},
    {SCMP_SYS(prctl), 0, CALL_WHOLE, PR_SET_VMA},
    {SCMP_SYS(prlimit64), 2, UINT64_MAX, 0}, /* asking, not setting */
};

int call_list_allow(void *filter, const int *calls, size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    }
    return error;
}

int call_list_allow_rules(void *filter, const struct call_rule *rules, size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        struct scmp_arg_cmp compare =
            SCMP_CMP64(rules[i].number, SCMP_CMP_MASKED_EQ, rules[i].mask, rules[i].value);
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, rules[i].call, 1, compare);
    }
    return error;
}

int call_list_allow_usual(void *filter, pid_t process) {
    const struct call_rule own = {SCMP_SYS(tgkill), 0, CALL_WHOLE, (uint64_t)process}; /* abort() */
    int error = call_list_allow(filter, allowed, COUNT(allowed));
    error = error ? error : call_list_allow_rules(filter, bound, COUNT(bound));
    return error ? error : call_list_allow_rules(filter, &own, 1);
}

static int export_list(call_list_fill *fill, pid_t process, const void *context, int fd) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int error = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) : -ENOMEM;
    error = error ? error : fill(filter, process, context);
    return error ? error : seccomp_export_bpf(filter, fd);
}

/* Runs in a separate process: without memory libseccomp 2.5.4 crashes, hangs, or makes a wrong program, so
 * the program is made twice. */
static _Noreturn void make_twice(call_list_fill *fill, pid_t process, const void *context, int fd) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(TIMEOUT_S);
    int error = export_list(fill, process, context, fd);
    error = error ? error : export_list(fill, process, context, fd);
    _exit(error ? 1 : 0);
}

struct made {
    size_t size; /* size of both together */
    uint8_t bytes[2 * CALL_LIST_MAX];
};

static void receive(struct made *made, int fd) {
    ssize_t got = 1;
    while (got != 0 && made->size < sizeof made->bytes) {
        got = read(fd, made->bytes + made->size, sizeof made->bytes - made->size);
        if (got < 0 && errno != EINTR) {
            break;
        }
        made->size += got > 0 ? (size_t)got : 0;
    }
}

bool call_list_make(struct call_list *list, call_list_fill *fill, const void *context) {
    struct made made = {0};
    int end[2], status = -1;
    if (pipe2(end, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t process = getpid(), child = fork();
    if (child == 0) {
        make_twice(fill, process, context, end[1]);
    }
    close(end[1]);
    if (child > 0) {
        receive(&made, end[0]);
    }
    close(end[0]); /* ends a child that still writes */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    size_t half = made.size / 2;
    bool sound = status == 0 && made.size % (2 * sizeof(struct sock_filter)) == 0 &&
                 memcmp(made.bytes, made.bytes + half, half) == 0;
    list->size = sound ? half : 0;
    memcpy(list->bytes, made.bytes, list->size);
    return list->size > 0;
}

/* All code here is trusted, so the speculation mitigations of old kernels are turned off. */
unsigned call_list_enter(const struct call_list *list, const char **why) {
    const unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    struct sock_filter program[CALL_LIST_MAX / sizeof(struct sock_filter)];
    if (list->size == 0) {
        *why = "the list of calls cannot be made, maybe for want of memory";
        return 0;
    }
    memcpy(program, list->bytes, list->size);
    struct sock_fprog whole = {.len = (unsigned short)(list->size / sizeof *program), .filter = program};
    errno = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole) != 0) {
        *why = errno ? strerror(errno) : "a thread has another list";
        return 0;
    }
    *why = "";
    return whole.len;
}
