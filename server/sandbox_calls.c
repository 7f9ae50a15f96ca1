/* SPDX-License-Identifier: MIT
 * The system calls that are left after the start: those that act on what the process has already.
 * A generous list on purpose: libraries differ in which of two calls they use, and what is not here
 * fails with ENOSYS, as on an old kernel, for which they have another way. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "server/sandbox.h"
#include "server/sanitizers.h"

#define WHOLE UINT32_MAX
#define DESCRIPTOR_BITS (UINT64_C(1) << 30) /* a descriptor that does not exist may differ in others */

enum { PATIENCE_S = 2 }; /* for the list to be made, which takes a millisecond */

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

static const int allowed[] = {
    /* memory; what maps has rules below */
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
    /* what is open */
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
    /* sockets that are there */
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
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
    /* time, and who and where it is */
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

/* Allowed where argument `number` has `value` in the bits of `mask`. */
struct rule {
    int call;
    unsigned number;
    uint64_t mask, value;
};

enum {
    THREAD = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD,
    SPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
             CLONE_NEWNET,
};

static const struct rule conditional[] = {
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {SCMP_SYS(clone), 0, (uint64_t)THREAD | SPACES, THREAD},
    {SCMP_SYS(ioctl), 1, WHOLE, FIONREAD},
    {SCMP_SYS(ioctl), 1, WHOLE, FIONBIO},
    {SCMP_SYS(ioctl), 1, WHOLE, TCGETS},
    {SCMP_SYS(fcntl), 1, WHOLE, F_GETFD},
    {SCMP_SYS(fcntl), 1, WHOLE, F_SETFD},
    {SCMP_SYS(fcntl), 1, WHOLE, F_GETFL},
    {SCMP_SYS(fcntl), 1, WHOLE, F_SETFL},
    {SCMP_SYS(fcntl), 1, WHOLE, F_ADD_SEALS}, /* of slots */
    {SCMP_SYS(prctl), 0, WHOLE, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, WHOLE, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, WHOLE, PR_GET_DUMPABLE},
    {SCMP_SYS(prctl), 0, WHOLE, PR_SET_VMA},
    {SCMP_SYS(prlimit64), 2, UINT64_MAX, 0}, /* asking, not setting */
};

/* Where files are read at SIGHUP. Where in the tree is Landlock's business. */
static const struct rule reading = {
    SCMP_SYS(openat), 2, WHOLE & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY), O_RDONLY};

/* Allowed on all descriptors, the first argument, but the service manager's socket: it is the one that could
 * send to any path, and no copy of it is to be had. */
static const struct rule sparing[] = {
    {SCMP_SYS(sendmsg), 2, MSG_FASTOPEN, 0},
    {SCMP_SYS(fcntl), 1, WHOLE, F_DUPFD_CLOEXEC},
};

/* Sending to the other end of what is connected, without MSG_FASTOPEN, which connects. */
static const struct scmp_arg_cmp sending[] = {SCMP_A4_64(SCMP_CMP_EQ, 0),
                                              SCMP_A3_64(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0)};

/* A lane to the GPU's engine. A socket of packets in order has one other end, whatever address is given. */
static const struct scmp_arg_cmp pairs[] = {
    SCMP_A0_64(SCMP_CMP_MASKED_EQ, WHOLE, AF_UNIX),
    SCMP_A1_64(SCMP_CMP_MASKED_EQ, WHOLE, SOCK_SEQPACKET | SOCK_CLOEXEC),
};

/* A worker lowers its own priority as it starts. */
static const struct scmp_arg_cmp own_priority[] = {SCMP_A0_64(SCMP_CMP_EQ, PRIO_PROCESS),
                                                   SCMP_A1_64(SCMP_CMP_EQ, 0)};

/* What a leak detector and its tracer do, and how a sanitizer reports. */
static const int sanitizers[] = {
    SCMP_SYS(openat),
    SCMP_SYS(open),
    SCMP_SYS(clone),
    SCMP_SYS(ptrace),
    SCMP_SYS(prctl),
    SCMP_SYS(kill),
    SCMP_SYS(tgkill),
    SCMP_SYS(readlink),
    SCMP_SYS(stat),
    SCMP_SYS(readlinkat),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents),
    SCMP_SYS(getdents64),
    SCMP_SYS(prlimit64),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(setrlimit),
    SCMP_SYS(personality),
    SCMP_SYS(newfstatat),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
};

static int add_calls(scmp_filter_ctx filter, const int *calls, size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    }
    return error;
}

static int add_rule(scmp_filter_ctx filter, struct rule rule) {
    struct scmp_arg_cmp compare = SCMP_CMP64(rule.number, SCMP_CMP_MASKED_EQ, rule.mask, rule.value);
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, rule.call, 1, compare);
}

/* The rule for all descriptors but that one: those that differ from it in a bit. SCMP_CMP_NE would compare 64
 * bits, of which the kernel then ignores the upper half. */
static int add_sparing_rule(scmp_filter_ctx filter, struct rule rule, int spared) {
    if (spared < 0) {
        return add_rule(filter, rule);
    }
    struct scmp_arg_cmp compare = SCMP_CMP64(rule.number, SCMP_CMP_MASKED_EQ, rule.mask, rule.value);
    int error = 0;
    for (uint64_t bit = 1; bit <= DESCRIPTOR_BITS && error == 0; bit <<= 1) {
        struct scmp_arg_cmp differs = SCMP_A0_64(SCMP_CMP_MASKED_EQ, bit, ~(uint64_t)spared & bit);
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, rule.call, 2, differs, compare);
    }
    return error;
}

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static int add_all(scmp_filter_ctx filter, const struct sandbox *sandbox, pid_t daemon) {
    int error = add_calls(filter, allowed, COUNT(allowed));
    if (SANITIZED && error == 0) {
        error = add_calls(filter, sanitizers, COUNT(sanitizers));
    }
    for (size_t i = 0; i < COUNT(conditional) && error == 0; i++) {
        error = add_rule(filter, conditional[i]);
    }
    for (size_t i = 0; i < COUNT(sparing) && error == 0; i++) {
        error = add_sparing_rule(filter, sparing[i], sandbox->notify);
    }
    if (sandbox->reads && error == 0) {
        error = add_rule(filter, reading);
    }
    if (sandbox->engines && error == 0) {
        error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), COUNT(pairs), pairs);
    }
    if (error == 0) {
        error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), COUNT(sending), sending);
    }
    if (error == 0) {
        error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(setpriority), COUNT(own_priority),
                                       own_priority);
    }
    /* abort() */
    return error ? error : add_rule(filter, (struct rule){SCMP_SYS(tgkill), 0, WHOLE, (uint64_t)daemon});
}

static int export_program(const struct sandbox *sandbox, pid_t daemon, int fd) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int error = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) : -ENOMEM;
    error = error ? error : add_all(filter, sandbox, daemon);
    return error ? error : seccomp_export_bpf(filter, fd);
}

/* In a process of its own: without memory libseccomp 2.5.4 crashes, never ends, or makes another program, so
 * that it makes it twice. */
static _Noreturn void make_program(const struct sandbox *sandbox, pid_t daemon, int fd) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE_S);
    int error = export_program(sandbox, daemon, fd);
    error = error ? error : export_program(sandbox, daemon, fd);
    _exit(error ? 1 : 0);
}

struct made {
    size_t size; /* of both together */
    uint8_t bytes[2 * SANDBOX_LIST_MAX];
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

size_t sandbox_calls_make(struct sandbox *sandbox) {
    struct made made = {0};
    int end[2], status = -1;
    if (pipe2(end, O_CLOEXEC) != 0) {
        return 0;
    }
    pid_t daemon = getpid(), child = fork();
    if (child == 0) {
        make_program(sandbox, daemon, end[1]);
    }
    close(end[1]);
    if (child > 0) {
        receive(&made, end[0]);
    }
    close(end[0]); /* what still writes ends */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    size_t half = made.size / 2;
    bool sound = status == 0 && made.size % (2 * sizeof(struct sock_filter)) == 0 &&
                 memcmp(made.bytes, made.bytes + half, half) == 0;
    sandbox->list_size = sound ? half : 0;
    memcpy(sandbox->list, made.bytes, sandbox->list_size);
    return sandbox->list_size;
}

/* What runs here is ours: no slower speculation for it, which old kernels add. */
unsigned sandbox_calls_load(const struct sandbox *sandbox, const char **why) {
    const unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    struct sock_filter program[SANDBOX_LIST_MAX / sizeof(struct sock_filter)];
    if (sandbox->list_size == 0) {
        *why = "the list of calls cannot be made, maybe for want of memory";
        return 0;
    }
    memcpy(program, sandbox->list, sandbox->list_size);
    struct sock_fprog whole = {.len = (unsigned short)(sandbox->list_size / sizeof *program),
                               .filter = program};
    errno = 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole) != 0) {
        *why = errno ? strerror(errno) : "a thread has another list";
        return 0;
    }
    *why = "";
    return (unsigned)(COUNT(allowed) + COUNT(conditional) + COUNT(sparing) + 3 + sandbox->reads +
                      sandbox->engines);
}
