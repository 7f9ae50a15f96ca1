/* SPDX-License-Identifier: MIT */
#include "codecs/process/codec_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "core/process/landlock.h"
#include "core/sanitizers.h"

enum { DESCRIPTORS_MAX = 16 };

/* Beside those of call_list_allow_usual: messages, slots in them, the deadline. */
static const int calls[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(setitimer)};

static const struct call_rule seals = {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_GET_SEALS};

/* The limit of its own memory. */
static const struct scmp_arg_cmp data_limit[] = {
    SCMP_A0_64(SCMP_CMP_MASKED_EQ, CALL_WHOLE, 0),
    SCMP_A1_64(SCMP_CMP_MASKED_EQ, CALL_WHOLE, RLIMIT_DATA),
};

/* The list serves all processes of the spawner. Process 0 does not exist: none of them can signal itself or
 * another one, and abort() ends in a fault. */
int codec_sandbox_fill(void *filter, pid_t process, const void *context) {
    (void)process, (void)context;
    int error = call_list_allow_usual(filter, 0);
    error = error ? error : call_list_allow(filter, calls, sizeof calls / sizeof calls[0]);
    error = error ? error : call_list_allow_rules(filter, &seals, 1);
    return error ? error
                 : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
                                          sizeof data_limit / sizeof data_limit[0], data_limit);
}

void codec_sandbox_prepare(struct codec_sandbox *sandbox) {
    if (sandbox->wanted && !SANITIZED) {
        call_list_make(&sandbox->list, codec_sandbox_fill, NULL);
    }
}

/* The daemon has already warned of a kernel without Landlock or seccomp. */
static enum status lacking(const struct codec_sandbox *sandbox, const char *what, const char *why,
                           struct error *err) {
    return sandbox->must ? fail(err, ST_INTERNAL, "--sandbox on: no %s for codecs: %s", what, why) : ST_OK;
}

enum status codec_sandbox_enter(const struct codec_sandbox *sandbox, struct error *err) {
    if (!sandbox->wanted || SANITIZED) { /* a sanitizer's report needs more calls */
        return ST_OK;
    }
    const char *why;
    enum status status = ST_OK;
    signal(SIGXFSZ, SIG_IGN); /* standard error may be a file */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS_MAX, DESCRIPTORS_MAX});
    prctl(PR_SET_DUMPABLE, 0);
    unsigned version = landlock_version();
    int ruleset = landlock_create(version, true);
    if (ruleset < 0 || !landlock_enter(ruleset)) {
        status = lacking(sandbox, "Landlock", strerror(errno), err);
    }
    if (status == ST_OK && !call_list_enter(&sandbox->list, &why)) {
        status = lacking(sandbox, "seccomp", why, err);
    }
    return status;
}
