/* SPDX-License-Identifier: MIT
 * The kernel raises SIGSYS for calls that the list refuses, and for each open. The handler records the call.
 * Then it refuses a forbidden call as the list does, and makes the open by an instruction that the list
 * allows. */
#include "tests/gpu/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "gpu/engine/engine_sandbox.h"

enum { CALLS_MAX = 512, PATHS_MAX = 256, PATH_SIZE = 160 };

static struct engine_sandbox sandbox;

void sandbox_prepare(void) {
    engine_sandbox_prepare(&sandbox);
}

#if defined(__x86_64__)

static _Atomic unsigned refused[CALLS_MAX];
static _Atomic unsigned path_count;
static struct {
    char text[PATH_SIZE];
    long call, flags, result;
} paths[PATHS_MAX];

/* A system call whose instruction ends at the label, which the list lets through. */
long sandbox_free_call(long number, long a, long b, long c, long d);
extern const char sandbox_free_call_end[];
__asm__(".text\n.globl sandbox_free_call\nsandbox_free_call:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\n"
        "syscall\n.globl sandbox_free_call_end\nsandbox_free_call_end:\nret\n");

static void note_path(long call, const char *path, long flags, long result) {
    unsigned at = atomic_fetch_add(&path_count, 1);
    if (at < PATHS_MAX) {
        snprintf(paths[at].text, PATH_SIZE, "%s", path);
        paths[at].call = call;
        paths[at].flags = flags;
        paths[at].result = result;
    }
}

static void on_call(int signal, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a = registers[REG_RDI], b = registers[REG_RSI], c = registers[REG_RDX], d = registers[REG_R10];
    int call = info->si_syscall, reason = errno;
    long result = -ENOSYS;
    (void)signal;
    if (call == SYS_openat || call == SYS_open) {
        result = sandbox_free_call(call, a, b, c, d);
        note_path(call, (const char *)(call == SYS_open ? a : b), call == SYS_open ? b : c, result);
    } else if (call >= 0 && call < CALLS_MAX) {
        atomic_fetch_add(&refused[call], 1);
    }
    registers[REG_RAX] = result;
    errno = reason;
}

/* In front of the list: the one instruction may do anything, and opening raises the signal. clone3 does not:
 * the C library calls it with all signals held back, and then the kernel would end the process. */
static void change_list(struct call_list *list) {
    uint64_t end = (uint64_t)(uintptr_t)sandbox_free_call_end;
    const struct sock_filter front[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)end, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(end >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    struct sock_filter *program = (struct sock_filter *)(void *)list->bytes;
    memmove(list->bytes + sizeof front, list->bytes, list->size);
    memcpy(list->bytes, front, sizeof front);
    list->size += sizeof front;
    for (size_t i = sizeof front / sizeof *front; i < list->size / sizeof *program; i++) {
        if (program[i].code == (BPF_RET | BPF_K) && program[i].k == (SECCOMP_RET_ERRNO | ENOSYS)) {
            program[i].k = SECCOMP_RET_TRAP;
        }
    }
}

static void begin_recording(void) {
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGSYS, &action, NULL);
    change_list(&sandbox.list);
}

static void report_paths(void) {
    unsigned count = atomic_load(&path_count), shown = count < PATHS_MAX ? count : PATHS_MAX;
    for (unsigned i = 0; i < shown; i++) {
        unsigned times = 0;
        bool first = true;
        for (unsigned j = 0; j < shown; j++) {
            bool same = strcmp(paths[i].text, paths[j].text) == 0 && paths[i].flags == paths[j].flags &&
                        (paths[i].result < 0) == (paths[j].result < 0);
            times += same;
            first = first && !(same && j < i);
        }
        if (first) {
            printf("sandbox: opened %s, flags %#lx, %u times: %s\n", paths[i].text, paths[i].flags, times,
                   paths[i].result < 0 ? strerror((int)-paths[i].result) : "ok");
        }
    }
    printf("sandbox: %u files opened after the start\n", count);
}

void sandbox_report(void) {
    unsigned kinds = 0;
    for (int call = 0; call < CALLS_MAX; call++) {
        unsigned times = atomic_load(&refused[call]);
        if (times > 0) {
            const char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
            printf("sandbox: refused %s (%d), %u times\n", name ? name : "?", call, times);
            kinds++;
        }
    }
    printf("sandbox: %u kinds of calls refused\n", kinds);
    report_paths();
}

#else

static void begin_recording(void) {
    printf("sandbox: nothing is recorded on this machine\n");
}

void sandbox_report(void) {
}

#endif

void sandbox_enter(bool record) {
    struct error err = {0};
    bool entered = false;
    if (record) {
        begin_recording();
    }
    if (engine_sandbox_enter(&sandbox, false, &entered, &err) != ST_OK || !entered) {
        printf("sandbox: not entered: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}
