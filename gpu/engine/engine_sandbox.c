/* SPDX-License-Identifier: MIT
 * The tables are generous: driver versions differ in their calls, and a refused call may fail a picture.
 * check_gpu --record (tests/gpu) lists the calls of a driver on a host with a GPU. */
#include "gpu/engine/engine_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "core/log.h"
#include "core/process/landlock.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Beside those of call_list_allow_usual. */
static const int calls[] = {
    /* slots come from the front */
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    /* the driver looks for its devices; Landlock limits what it may open */
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    SCMP_SYS(pipe),
    SCMP_SYS(eventfd),
    SCMP_SYS(epoll_create),
    /* memory near the GPU */
    SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlockall),
    SCMP_SYS(mlockall),
    /* threads of the driver */
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_getattr),
    SCMP_SYS(capget),
};

/* These flags read and write existing files; none creates or truncates. */
#define OPEN_FLAGS                                                                                           \
    (CALL_WHOLE & ~(uint64_t)(O_ACCMODE | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_DIRECTORY |     \
                              O_LARGEFILE | KERNEL_LARGEFILE | O_SYNC))
enum {
    KERNEL_LARGEFILE = 0100000, /* the kernel's value, where the C library has 0 */
    COMMAND_KIND = 0xff00,      /* bits of an ioctl's number */
    KIND_NVIDIA = 'F' << 8,
    KIND_UVM = 0, /* NVIDIA's unified memory */
    KIND_WSL = 'G' << 8,
};

static const struct call_rule rules[] = {
    {SCMP_SYS(openat), 2, OPEN_FLAGS, 0},
    {SCMP_SYS(open), 1, OPEN_FLAGS, 0},
    {SCMP_SYS(ioctl), 1, COMMAND_KIND, KIND_NVIDIA},
    {SCMP_SYS(ioctl), 1, COMMAND_KIND, KIND_UVM},
    {SCMP_SYS(ioctl), 1, COMMAND_KIND, KIND_WSL},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_DUPFD},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_DUPFD_CLOEXEC},
    {SCMP_SYS(fcntl), 1, CALL_WHOLE, F_GET_SEALS},
    {SCMP_SYS(prctl), 0, CALL_WHOLE, PR_SET_TIMERSLACK},
    {SCMP_SYS(sendto), 4, UINT64_MAX, 0},               /* without an address */
    {SCMP_SYS(personality), 0, CALL_WHOLE, CALL_WHOLE}, /* a query */
};

/* Files that the driver opens while it runs. */
static const struct {
    const char *pattern;
    unsigned rights;
} files[] = {
    {"/dev/nvidia*", LANDLOCK_READS | LANDLOCK_USES},
    {"/dev/nvidia-caps/*", LANDLOCK_READS | LANDLOCK_USES},
    {"/dev/dxg", LANDLOCK_READS | LANDLOCK_USES},
    {"/dev/null", LANDLOCK_READS | LANDLOCK_USES},
    {"/dev/zero", LANDLOCK_READS | LANDLOCK_USES},
    {"/dev/urandom", LANDLOCK_READS},
    {"/proc/self", LANDLOCK_READS | LANDLOCK_LISTS},
    {"/proc/driver", LANDLOCK_READS | LANDLOCK_LISTS},
    {"/proc/devices", LANDLOCK_READS},
    {"/proc/meminfo", LANDLOCK_READS},
    {"/proc/cpuinfo", LANDLOCK_READS},
    {"/proc/stat", LANDLOCK_READS},
    {"/proc/modules", LANDLOCK_READS},
    {"/proc/filesystems", LANDLOCK_READS},
    {"/proc/version", LANDLOCK_READS},
    {"/proc/sys", LANDLOCK_READS | LANDLOCK_LISTS},
    {"/sys", LANDLOCK_READS | LANDLOCK_LISTS},
};

int engine_sandbox_fill(void *filter, pid_t process, const void *context) {
    (void)context;
    int error = call_list_allow_usual(filter, process);
    error = error ? error : call_list_allow(filter, calls, COUNT(calls));
    return error ? error : call_list_allow_rules(filter, rules, COUNT(rules));
}

void engine_sandbox_prepare(struct engine_sandbox *sandbox) {
    call_list_make(&sandbox->list, engine_sandbox_fill, NULL);
}

static void allow_files(int ruleset) {
    for (size_t i = 0; i < COUNT(files); i++) {
        glob_t found;
        if (glob(files[i].pattern, GLOB_NOSORT, NULL, &found) == 0) {
            for (size_t j = 0; j < found.gl_pathc; j++) {
                landlock_allow(ruleset, found.gl_pathv[j], files[i].rights);
            }
            globfree(&found);
        }
    }
}

/* Returns the version of Landlock in force, or 0 with the reason in *err. */
static unsigned close_files(struct error *err) {
    unsigned missed = 0, version = landlock_version();
    int ruleset = landlock_create(version, false);
    if (ruleset >= 0) {
        allow_files(ruleset);
    }
    if (ruleset < 0 || !landlock_enter_threads(ruleset, version, &missed)) {
        fail(err, ST_DEVICE, "no Landlock: %s", strerror(errno));
        return 0;
    }
    if (missed > 0) {
        fail(err, ST_DEVICE, "Landlock does not hold for %u threads of the driver", missed);
        return 0;
    }
    return version;
}

static enum status lacking(bool must, const struct error *why, struct error *err) {
    if (must) {
        return fail(err, ST_DEVICE, "--sandbox on: %s", why->text);
    }
    log_message(LOG_WARNING, "engine", "sandbox: %s", why->text);
    return ST_OK;
}

enum status engine_sandbox_enter(const struct engine_sandbox *sandbox, bool must, bool *entered,
                                 struct error *err) {
    struct error lack = {0};
    const char *why;
    enum status status = ST_OK;
    unsigned version = close_files(&lack);
    if (version == 0) {
        status = lacking(must, &lack, err);
    }
    unsigned instructions = status == ST_OK ? call_list_enter(&sandbox->list, &why) : 0;
    if (status == ST_OK && instructions == 0) {
        fail(&lack, ST_DEVICE, "no seccomp: %s", why);
        status = lacking(must, &lack, err);
    }
    *entered = instructions > 0;
    log_message(LOG_INFO, "engine", "sandbox: system calls by a list of %u instructions; Landlock %u",
                instructions, version);
    return status;
}
