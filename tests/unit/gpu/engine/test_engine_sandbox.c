/* SPDX-License-Identifier: MIT
 * An engine on the fake driver that enters its sandbox as the process does, and then tries the calls of an
 * attacker: on its own thread, and on one that was started before, as the driver's are. */
#include "gpu/engine/engine_sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"
#include "core/process/landlock.h"
#include "core/sanitizers.h"
#include "core/slot_file.h"
#include "filters/filter.h"
#include "gpu/engine/engine.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */

enum { SLOT_SIZE = 1 << 18 };

static char folder[] = "/tmp/blurd-engine-XXXXXX", file[64];
static char driver[PATH_MAX + 40];
static int tcp, memory_file; /* descriptors from before */
static unsigned version;     /* of Landlock */

/* --- attempts ------------------------------------------------------------------------------ */
static struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = 0x0900};
static struct iovec piece = {folder, 1};
static struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

enum { TCP = -1001, MEMORY = -1002 };

static long known(long argument) {
    return argument == TCP ? tcp : argument == MEMORY ? memory_file : argument;
}

static const struct forbidden attempts[] = {
    FILES("read /etc/passwd", openat, AT_FDCWD, TEXT("/etc/passwd")),
    FILES("read a file of its user", openat, AT_FDCWD, TEXT(file)),
#ifdef SYS_open // younger architectures are without
    FILES("read it by the older call", open, TEXT(file)),
#endif
    FILES("read it by way of /proc/self/root", openat, AT_FDCWD, TEXT("/proc/self/root/etc/passwd")),
    FILES("read the first process's environment", openat, AT_FDCWD, TEXT("/proc/1/environ")),
    FILES("write its own code", openat, AT_FDCWD, TEXT("/proc/self/mem"), O_RDWR),
    FILES("list a folder", openat, AT_FDCWD, TEXT(folder), O_DIRECTORY),
    FILES("list /", openat, AT_FDCWD, TEXT("/"), O_DIRECTORY),
    FILES("write a file", openat, AT_FDCWD, TEXT(file), O_WRONLY),
    FILES("change a setting of the kernel", openat, AT_FDCWD, TEXT("/proc/self/oom_score_adj"), O_WRONLY),
    CALL("append to a file", openat, AT_FDCWD, TEXT(file), O_RDWR | O_APPEND),
    CALL("empty a file", openat, AT_FDCWD, TEXT(file), O_WRONLY | O_TRUNC),
    CALL("create a file", openat, AT_FDCWD, TEXT("/tmp/blurd-new"), O_WRONLY | O_CREAT, 0600),
#ifdef SYS_creat // the same
    CALL("create a file by the oldest call", creat, TEXT("/tmp/blurd-new"), 0600),
#endif
    CALL("create an unnamed file", openat, AT_FDCWD, TEXT("/tmp"), O_TMPFILE | O_RDWR, 0600),
    CALL("name a folder", openat, AT_FDCWD, TEXT("/"), O_PATH),
    CALL("open in a newer way", openat2, AT_FDCWD, TEXT(file)),
    CALL("truncate", truncate, TEXT(file)),
    CALL("unlink", unlinkat, AT_FDCWD, TEXT(file)),
    CALL("rename", renameat2, AT_FDCWD, TEXT(file), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("link", linkat, AT_FDCWD, TEXT(file), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("symlink", symlinkat, TEXT("/etc/passwd"), AT_FDCWD, TEXT("/tmp/blurd-new")),
    CALL("mkdir", mkdirat, AT_FDCWD, TEXT("/tmp/blurd-new"), 0700),
    CALL("chmod", fchmodat, AT_FDCWD, TEXT(file), 0777),
    CALL("chown", fchownat, AT_FDCWD, TEXT(file), 1, 1),
    CALL("run a program from memory", execveat, MEMORY, TEXT(""), 0, 0, 0x1000 /* AT_EMPTY_PATH */),
    CALL("have the kernel signal it", fcntl, TCP, F_SETOWN, PARENT),
    CALL("write another's memory", process_vm_writev, PARENT, (long)&piece, 1, (long)&piece, 1),
    CALL("socket AF_UNIX", socket, AF_UNIX, SOCK_DGRAM),
    CALL("socket AF_NETLINK", socket, AF_NETLINK, SOCK_RAW),
    CALL("connect", connect, TCP, (long)&loopback, sizeof loopback),
    CALL("connect while sending", sendto, TCP, TEXT("x"), 1, MSG_FASTOPEN, (long)&loopback, sizeof loopback),
    CALL("bind", bind, TCP, (long)&loopback, sizeof loopback),
    CALL("listen", listen, TCP, 1),
    CALL("accept", accept4, TCP),
    CALL("a file to run", mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, MEMORY),
    CALL("type at a terminal", ioctl, MEMORY, TIOCSTI, TEXT("x")),
    CALL("limits again", prlimit64, 0, RLIMIT_CORE, (long)&unlimited),
    CALL("setns", setns, 0),
    CALL("capset", capset, 0),
    CALL("another personality", personality, 0x0040000),
};
enum { OWN = sizeof attempts / sizeof attempts[0], ATTEMPTS = OWN + FORBIDDEN_ANYWHERE };

/* --- a thread as the driver has ---------------------------------------------------------------- */
static struct {
    pthread_t thread;
    sem_t ready, entered;
    int blocked;
    bool deaf; /* to all signals */
} early;

static void *early_main(void *argument) {
    sigset_t all;
    sigfillset(&all);
    if (early.deaf) {
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
    sem_post(&early.ready);
    while (sem_wait(&early.entered) != 0) {
    }
    early.blocked = early.deaf ? 0 : count_blocked(attempts, OWN, known, version > 0, "a thread from before");
    return argument;
}

/* --- an engine ----------------------------------------------------------------------------------- */
static struct engine *engine;
static struct engine_sandbox sandbox;

static bool start(bool must, struct error *err) {
    struct wire_ready ready;
    const struct engine_options options = {
        .gpus = "all", .library = driver, .jpeg = true, .pictures = 2, .program.cache_folder = ""};
    bool entered = false;
    engine_sandbox_prepare(&sandbox);
    sem_init(&early.ready, 0, 0);
    sem_init(&early.entered, 0, 0);
    return pthread_create(&early.thread, NULL, early_main, NULL) == 0 && sem_wait(&early.ready) == 0 &&
           engine_open(&engine, &options, &ready, err) == ST_OK &&
           engine_sandbox_enter(&sandbox, must, &entered, err) == ST_OK && entered;
}

static void end_early(void) {
    sem_post(&early.entered);
    pthread_join(early.thread, NULL);
}

/* A blur of a slot, on a lane that is made in the sandbox. */
static bool serves(void) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 40, .height = 30};
    const struct blur_arguments arguments = {.sigma = 3};
    struct wire_run run = {
        .slot_span = SLOT_SIZE, .target = SLOT_SIZE / 2, .mask = WIRE_NO_MASK, .shape = shape};
    struct engine_session *lane = NULL;
    struct wire_done done = {0};
    struct error err = {0};
    int slot = slot_file(SLOT_SIZE);
    bool good = chain_append(&run.chain, filter_get(FILTER_BLUR), &arguments, &shape, &err) == ST_OK &&
                engine_session_create(&lane, engine, &err) == ST_OK && engine_run(lane, &run, slot, &done) &&
                done.error.status == ST_OK;
    engine_session_destroy(lane);
    return good;
}

/* --- the children ---------------------------------------------------------------------------- */
static int attacker(void) {
    struct error err = {0};
    if (!start(false, &err)) {
        return CHILD_SKIPS;
    }
    end_early();
    int blocked = count_blocked(attempts, OWN, known, version > 0, "its own thread");
    dprintf(STDOUT_FILENO, "%d and %d of %d blocked, Landlock %u\n", blocked, early.blocked, ATTEMPTS,
            version);
    return blocked == ATTEMPTS && early.blocked == ATTEMPTS ? 0 : 1;
}

static int worker(void) {
    struct error err = {0};
    if (!start(false, &err)) {
        return CHILD_SKIPS;
    }
    end_early();
    return serves() ? 0 : 1;
}

/* System calls that only a driver makes, here without arguments. A number below 0: this processor has no such
 * call. */
static bool permits_rare_calls(void) {
    static const int calls[] = {
        SCMP_SYS(dup),          SCMP_SYS(dup2),          SCMP_SYS(dup3),
        SCMP_SYS(stat),         SCMP_SYS(lstat),         SCMP_SYS(statx),
        SCMP_SYS(statfs),       SCMP_SYS(fstatfs),       SCMP_SYS(access),
        SCMP_SYS(faccessat),    SCMP_SYS(faccessat2),    SCMP_SYS(readlink),
        SCMP_SYS(readlinkat),   SCMP_SYS(getcwd),        SCMP_SYS(pipe),
        SCMP_SYS(epoll_create), SCMP_SYS(mbind),         SCMP_SYS(get_mempolicy),
        SCMP_SYS(mlock2),       SCMP_SYS(set_mempolicy), SCMP_SYS(sched_setaffinity),
        SCMP_SYS(capget),       SCMP_SYS(sched_getattr), SCMP_SYS(mlockall),
    };
    bool all = true;
    for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        bool permitted = calls[i] < 0 || syscall(calls[i], -1, -1, -1, -1, -1, -1) == 0 || errno != ENOSYS;
        if (!permitted) {
            dprintf(STDOUT_FILENO, "call %d is refused\n", calls[i]);
        }
        all &= permitted;
    }
    return all;
}

static bool lists(const char *path) {
    DIR *listed = opendir(path);
    bool any = listed && readdir(listed);
    if (listed) {
        closedir(listed);
    }
    return any;
}

/* System calls that a driver needs while it runs, and one of the threads that serve workers. */
static int driver_calls(void) {
    struct error err = {0};
    struct stat facts;
    if (!start(false, &err)) {
        return CHILD_SKIPS;
    }
    end_early();
    bool reads = open("/proc/self/maps", O_RDONLY) >= 0 && open("/proc/meminfo", O_RDONLY) >= 0 &&
                 open("/sys/devices/system/cpu/online", O_RDONLY) >= 0 && stat("/dev/null", &facts) == 0;
    bool writes = open("/dev/null", O_RDWR | O_CLOEXEC) >= 0;
    bool asks = syscall(SYS_ioctl, memory_file, 'F' << 8 | 42, NULL) == -1 && errno == ENOTTY;
    bool looks = lists("/proc/self/task") && lists("/sys/devices/system/cpu");
    bool wakes_soon = prctl(PR_SET_TIMERSLACK, 1) == 0;
    return reads && writes && asks && looks && wakes_soon && permits_rare_calls() ? 0 : 1;
}

/* A thread that takes no signals keeps its files: that is no sandbox where one must be. */
static int with_a_deaf_thread(bool must) {
    struct error err = {0};
    early.deaf = true;
    bool good = start(must, &err);
    end_early();
    if (version == 0 || version >= 8) {
        return CHILD_SKIPS;
    }
    return must ? !good && strstr(err.text, "1 threads") ? 0 : 1 : good ? 0 : 1;
}

static int deaf_and_must(void) {
    return with_a_deaf_thread(true);
}

static int deaf(void) {
    return with_a_deaf_thread(false);
}

/* --- tests --------------------------------------------------------------------------------- */
static void test_what_is_closed(void **state) {
    (void)state;
    check_child(attacker);
}

static void test_it_serves(void **state) {
    (void)state;
    check_child(worker);
}

static void test_what_a_driver_does(void **state) {
    (void)state;
    check_child(driver_calls);
}

static void test_a_thread_that_cannot_be_reached(void **state) {
    (void)state;
    check_child(deaf_and_must);
    check_child(deaf);
}

static int prepare(void **state) {
    (void)state;
    char program[PATH_MAX] = "";
    log_init(LOG_ERROR, LOG_TEXT);
    version = landlock_version();
    if (!mkdtemp(folder) || readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
        return -1;
    }
    snprintf(driver, sizeof driver, "%s/../fake_cuda/libfakecuda.so", dirname(program));
    snprintf(file, sizeof file, "%s/file", folder);
    int made = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    tcp = socket(AF_INET, SOCK_STREAM, 0);
    memory_file = memfd_create("program", 0);
    return made >= 0 && close(made) == 0 && ftruncate(memory_file, 4096) == 0 ? 0 : -1;
}

static int tidy(void **state) {
    (void)state;
    return unlink(file) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_closed),
        cmocka_unit_test(test_it_serves),
        cmocka_unit_test(test_what_a_driver_does),
        cmocka_unit_test(test_a_thread_that_cannot_be_reached),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
