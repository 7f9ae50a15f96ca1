/* SPDX-License-Identifier: MIT */
#include "core/process/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Rights by the interface version that added them; the header may be older than the kernel. */
static const uint64_t file_rights[] = {
    [1] = (1 << 13) - 1, /* execute, write, read, list, remove, make */
    [2] = 1 << 13,       /* rename between folders */
    [3] = 1 << 14,       /* truncate */
    [5] = 1 << 15,       /* ioctl of devices */
};
enum {
    NET_SINCE = 4,
    NET_CONNECT_TCP = 1 << 1,
    IOCTL_SINCE = 5,
    SCOPE_SINCE = 6,
    SCOPE_ABSTRACT_SOCKET = 1 << 0,
    SCOPE_SIGNAL = 1 << 1,
    THREADS_SINCE = 8,
    FOR_ALL_THREADS = 1 << 3,
    THREADS_MAX = 256,
    ROUNDS = 40,
    ROUND_NS = 500000,
};

/* struct landlock_ruleset_attr as of version 6. */
struct ruleset {
    uint64_t file, net, scope;
};

unsigned landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (unsigned)version : 0;
}

int landlock_create(unsigned version, bool signals) {
    struct ruleset handled = {.net = version >= NET_SINCE ? NET_CONNECT_TCP : 0,
                              .scope = version >= SCOPE_SINCE ? SCOPE_ABSTRACT_SOCKET : 0};
    if (version >= SCOPE_SINCE && signals) {
        handled.scope |= SCOPE_SIGNAL;
    }
    for (unsigned i = 1; i < sizeof file_rights / sizeof file_rights[0] && i <= version; i++) {
        handled.file |= file_rights[i];
    }
    size_t size = version >= SCOPE_SINCE ? sizeof handled
                  : version >= NET_SINCE ? offsetof(struct ruleset, scope)
                                         : offsetof(struct ruleset, net);
    return (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
}

void landlock_allow(int ruleset, const char *path, unsigned rights) {
    struct stat facts;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct landlock_path_beneath_attr beneath = {.parent_fd = fd};
    bool folder = fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode);
    beneath.allowed_access |= rights & LANDLOCK_READS ? LANDLOCK_ACCESS_FS_READ_FILE : 0;
    beneath.allowed_access |= folder && rights & LANDLOCK_LISTS ? LANDLOCK_ACCESS_FS_READ_DIR : 0;
    beneath.allowed_access |= rights & LANDLOCK_USES ? LANDLOCK_ACCESS_FS_WRITE_FILE : 0;
    beneath.allowed_access |=
        rights & LANDLOCK_USES && landlock_version() >= IOCTL_SINCE ? file_rights[IOCTL_SINCE] : 0;
    (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(fd);
}

static bool restrict_self(int ruleset, unsigned flags) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, ruleset, flags) == 0;
}

/* Closes without touching errno. */
static bool closed(int ruleset, bool result) {
    int reason = errno;
    close(ruleset);
    errno = reason;
    return result;
}

bool landlock_enter(int ruleset) {
    return closed(ruleset, restrict_self(ruleset, 0));
}

/* ---- all threads ---- */

static _Atomic int the_ruleset;
static _Atomic unsigned entered; /* threads that the signal has reached */

static void on_signal(int signal) {
    int reason = errno, ruleset = atomic_load(&the_ruleset);
    (void)signal;
    if (ruleset >= 0 && restrict_self(ruleset, 0)) {
        atomic_fetch_add(&entered, 1);
    }
    errno = reason;
}

struct threads {
    unsigned count;
    pid_t signalled[THREADS_MAX];
};

static bool is_new(const struct threads *threads, pid_t thread) {
    for (unsigned i = 0; i < threads->count; i++) {
        if (threads->signalled[i] == thread) {
            return false;
        }
    }
    return thread > 0 && thread != (pid_t)syscall(SYS_gettid) && threads->count < THREADS_MAX;
}

/* Signals new threads; false when there are none. */
static bool signal_new(struct threads *threads) {
    unsigned before = threads->count;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (is_new(threads, thread) && syscall(SYS_tgkill, getpid(), thread, SIGRTMIN) == 0) {
            threads->signalled[threads->count++] = thread;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return threads->count > before;
}

static unsigned count_alive(const struct threads *threads) {
    unsigned count = 0;
    for (unsigned i = 0; i < threads->count; i++) {
        count += syscall(SYS_tgkill, getpid(), threads->signalled[i], 0) == 0;
    }
    return count;
}

/* Restricts each thread by a signal, as the C library does for setuid. A thread that was not signalled yet
 * may start others meanwhile; the next round finds them. */
static unsigned enter_by_signal(int ruleset) {
    struct threads threads = {0};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    atomic_store(&the_ruleset, ruleset);
    atomic_store(&entered, 0);
    sigaction(SIGRTMIN, &action, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (!signal_new(&threads) && atomic_load(&entered) == threads.count) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
    }
    atomic_store(&the_ruleset, -1);
    unsigned alive = count_alive(&threads), reached = atomic_load(&entered);
    return alive > reached ? alive - reached : 0;
}

bool landlock_enter_threads(int ruleset, unsigned version, unsigned *missed) {
    *missed = 0;
    if (version >= THREADS_SINCE && restrict_self(ruleset, FOR_ALL_THREADS)) {
        return closed(ruleset, true);
    }
    *missed = enter_by_signal(ruleset);
    return closed(ruleset, restrict_self(ruleset, 0));
}
