/* SPDX-License-Identifier: MIT
 * The system calls that are left to the front after the start, beside the usual ones
 * (core/process/call_list.h). */
#include <fcntl.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "core/sanitizers.h"
#include "server/process/sandbox.h"

#define DESCRIPTOR_BITS (UINT64_C(1) << 30) /* a descriptor that does not exist may differ in others */

static const int usual[] = {SCMP_SYS(accept), SCMP_SYS(accept4)};

/* Calls for reading files at SIGHUP. Landlock restricts the folders. */
static const struct call_rule reading = {
    SCMP_SYS(openat), 2, CALL_WHOLE & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY), O_RDONLY};

/* Allowed on all descriptors, the first argument, but the service manager's socket: it is the one that could
 * send to any path, and no copy of it is to be had. */
static const struct call_rule sparing[] = {
    {SCMP_SYS(sendmsg), 2, MSG_FASTOPEN, 0},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_DUPFD_CLOEXEC},
};

/* Sending on a connected socket, without MSG_FASTOPEN, which connects. */
static const struct scmp_arg_cmp sending[] = {SCMP_A4_64(SCMP_CMP_EQ, 0, 0),
                                              SCMP_A3_64(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0)};

/* A lane to the GPU's engine, or a link to a codec's process. A SOCK_SEQPACKET pair only reaches its
 * other end; the kernel ignores an address. */
static const struct scmp_arg_cmp pairs[] = {
    SCMP_A0_64(SCMP_CMP_MASKED_EQ, CALL_WHOLE, AF_UNIX),
    SCMP_A1_64(SCMP_CMP_MASKED_EQ, CALL_WHOLE, SOCK_SEQPACKET | SOCK_CLOEXEC),
};

/* A worker lowers its own priority as it starts. */
static const struct scmp_arg_cmp own_priority[] = {SCMP_A0_64(SCMP_CMP_EQ, PRIO_PROCESS, 0),
                                                   SCMP_A1_64(SCMP_CMP_EQ, 0, 0)};

/* Calls of a leak detector and its tracer, and of a sanitizer's report. */
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

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Adds the rule for every descriptor but that one: one rule a bit, for descriptors that differ in it.
 * SCMP_CMP_NE would compare 64 bits, of which the kernel then ignores the upper half. */
static int allow_sparing(scmp_filter_ctx filter, const struct call_rule *rule, int spared) {
    if (spared < 0) {
        return call_list_allow_rules(filter, rule, 1);
    }
    struct scmp_arg_cmp compare = SCMP_CMP64(rule->number, SCMP_CMP_MASKED_EQ, rule->mask, rule->value);
    int error = 0;
    for (uint64_t bit = 1; bit <= DESCRIPTOR_BITS && error == 0; bit <<= 1) {
        struct scmp_arg_cmp differs = SCMP_A0_64(SCMP_CMP_MASKED_EQ, bit, ~(uint64_t)spared & bit);
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, rule->call, 2, differs, compare);
    }
    return error;
}

static int allow_by_two(scmp_filter_ctx filter, int call, const struct scmp_arg_cmp compare[2]) {
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 2, compare);
}

int sandbox_fill(void *filter, pid_t process, const void *context) {
    const struct sandbox *sandbox = context;
    int error = call_list_allow_usual(filter, process);
    error = error ? error : call_list_allow(filter, usual, COUNT(usual));
    if (SANITIZED && error == 0) {
        error = call_list_allow(filter, sanitizers, COUNT(sanitizers));
    }
    for (size_t i = 0; i < COUNT(sparing) && error == 0; i++) {
        error = allow_sparing(filter, &sparing[i], sandbox->notify);
    }
    if (sandbox->reads && error == 0) {
        error = call_list_allow_rules(filter, &reading, 1);
    }
    if (sandbox->pairs && error == 0) {
        error = allow_by_two(filter, SCMP_SYS(socketpair), pairs);
    }
    error = error ? error : allow_by_two(filter, SCMP_SYS(sendto), sending);
    return error ? error : allow_by_two(filter, SCMP_SYS(setpriority), own_priority);
}
