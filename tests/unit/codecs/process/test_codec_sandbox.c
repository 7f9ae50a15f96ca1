/* SPDX-License-Identifier: MIT
 * A process enters the sandbox of isolated codecs, and tries what a library that was taken over would try. */
#include "codecs/process/codec_sandbox.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "core/log.h"
#include "core/process/channel.h"
#include "core/process/landlock.h"
#include "core/sanitizers.h"
#include "core/slot_file.h"

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */

enum { SLOT_SIZE = 1 << 18 };

static char text[] = "/tmp/blurd-new";
static struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

static const struct forbidden attempts[] = {
    CALL("read a file", openat, AT_FDCWD, TEXT("/etc/passwd")),
    CALL("read its own memory", openat, AT_FDCWD, TEXT("/proc/self/mem")),
    CALL("write a file", openat, AT_FDCWD, TEXT("/dev/null"), O_WRONLY),
    CALL("create a file", openat, AT_FDCWD, TEXT(text), O_WRONLY | O_CREAT, 0600),
#ifdef SYS_open // younger architectures are without
    CALL("read a file by the older call", open, TEXT("/etc/passwd")),
    CALL("write a file by the older call", open, TEXT("/dev/null"), O_RDWR),
    CALL("create a file by the oldest call", creat, TEXT(text), 0600),
#endif
    CALL("look for a file", newfstatat, AT_FDCWD, TEXT("/etc/passwd"), 0, 0),
    CALL("read a link", readlinkat, AT_FDCWD, TEXT("/proc/self/exe"), 0, 0),
    CALL("unlink", unlinkat, AT_FDCWD, TEXT(text)),
    CALL("mkdir", mkdirat, AT_FDCWD, TEXT(text), 0700),
    CALL("signal itself", kill, 0, 0),
    CALL("socket AF_UNIX", socket, AF_UNIX, SOCK_DGRAM),
    CALL("connect", connect, 0),
    CALL("bind", bind, 0),
    CALL("accept", accept4, 0),
    CALL("a copy of a descriptor", dup, 0),
    CALL("a copy by the newer call", fcntl, 0, F_DUPFD_CLOEXEC, 0),
    CALL("another limit", prlimit64, 0, RLIMIT_NOFILE, (long)&unlimited),
    CALL("a limit of files again", prlimit64, 0, RLIMIT_FSIZE, (long)&unlimited),
    CALL("the limit of another", prlimit64, PARENT, RLIMIT_DATA, (long)&unlimited),
    CALL("its priority", setpriority, PRIO_PROCESS, 0, 0),
};
enum { OWN = sizeof attempts / sizeof attempts[0], ATTEMPTS = OWN + FORBIDDEN_ANYWHERE };

static bool enter(void) {
    static struct codec_sandbox sandbox = {.wanted = true, .must = true};
    struct error err = {0};
    codec_sandbox_prepare(&sandbox);
    return codec_sandbox_enter(&sandbox, &err) == ST_OK;
}

static int attacker(void) {
    if (!enter()) {
        return CHILD_SKIPS;
    }
    int blocked = count_blocked(attempts, OWN, NULL, true, "its own thread");
    dprintf(STDOUT_FILENO, "%d of %d blocked\n", blocked, ATTEMPTS);
    return blocked == ATTEMPTS ? 0 : 1;
}

/* It can neither fill memory by a file of its own, nor take more descriptors. */
static int hoarder(void) {
    if (!enter()) {
        return CHILD_SKIPS;
    }
    int file = memfd_create("hoard", 0), copies = 0;
    bool small = write(file, text, 1) == -1 && errno == EFBIG && ftruncate(file, 4096) == -1 &&
                 errno == EFBIG && fallocate(file, 0, 0, 4096) == -1 && errno == EFBIG;
    while (copies < 100 && memfd_create("more", 0) >= 0) {
        copies++;
    }
    return small && copies < 16 ? 0 : 1;
}

/* What the process does with its socket, a slot, time and memory. */
static int worker(void) {
    int pair[2], slot = slot_file(SLOT_SIZE);
    struct rlimit limit = {64 << 20, RLIM_INFINITY};
    struct channel_head message;
    struct error err = {0};
    if (channel_pair(pair, &err) != ST_OK || !enter()) {
        return CHILD_SKIPS;
    }
    int received = -1;
    bool talks = channel_send(pair[0], &message, sizeof message, 1, slot, &err) == ST_OK &&
                 channel_receive(pair[1], &message, sizeof message, 1, &received, 1000, &err) == ST_OK;
    bool maps = slot_file_holds(slot, SLOT_SIZE) && !slot_file_holds(slot, SLOT_SIZE + 1) &&
                mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slot, 0) != MAP_FAILED;
    bool limits = setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = 60}, NULL) == 0 &&
                  setrlimit(RLIMIT_DATA, &limit) == 0 && getrlimit(RLIMIT_DATA, &limit) == 0;
    void *some = malloc(32 << 20), *much = malloc(80 << 20);
    return talks && maps && limits && some && !much ? 0 : 1;
}

static void test_what_is_closed(void **state) {
    (void)state;
    check_child(attacker);
}

static void test_what_is_limited(void **state) {
    (void)state;
    check_child(hoarder);
}

static void test_what_stays(void **state) {
    (void)state;
    check_child(worker);
}

/* No sandbox is wanted: nothing happens. */
static void test_off(void **state) {
    static const struct codec_sandbox off = {.must = true};
    struct error err = {0};
    (void)state;
    assert_int_equal(codec_sandbox_enter(&off, &err), ST_OK);
    assert_int_equal(try_fork() > 0, 1);
    wait(NULL);
}

/* The list could not be made. */
static int without_a_list(void) {
    static struct codec_sandbox sandbox = {.wanted = true, .must = true};
    struct error err = {0};
    if (landlock_version() == 0) {
        return CHILD_SKIPS;
    }
    bool refused = codec_sandbox_enter(&sandbox, &err) == ST_INTERNAL && strstr(err.text, "no seccomp");
    sandbox.must = false;
    return refused && codec_sandbox_enter(&sandbox, &err) == ST_OK ? 0 : 1;
}

static void test_must(void **state) {
    (void)state;
    check_child(without_a_list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_closed), cmocka_unit_test(test_what_is_limited),
        cmocka_unit_test(test_what_stays),     cmocka_unit_test(test_off),
        cmocka_unit_test(test_must),
    };
    log_init(LOG_ERROR, LOG_TEXT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
