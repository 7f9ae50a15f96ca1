/* SPDX-License-Identifier: MIT
 * A sandbox has two layers that refuse much of the same: Landlock and a list of system calls. What one of
 * them is tested for would pass with the other one alone. Here is what each refuses while the other is off,
 * by its own errno, and a kernel that lacks Landlock. For children of check_child. */
#ifndef BLURD_TESTS_LAYERS_FIXTURE_H
#define BLURD_TESTS_LAYERS_FIXTURE_H

#include <fcntl.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/process/landlock.h"

#include "tests/unit/core/forbidden_fixture.h"

enum { TRUNCATES_SINCE = 3, CONNECTS_SINCE = 4, SIGNALS_SINCE = 6 }; /* versions of Landlock */

static inline bool refused_by(int wanted, long result, const char *what) {
    bool refused = result == -1 && errno == wanted;
    if (!refused) {
        dprintf(STDOUT_FILENO, "%s: %ld, %s\n", what, result, strerror(errno));
    }
    return refused;
}

/* A file of this user, open to it in every way but for Landlock. */
static char layers_file[] = "/tmp/blurd-layers-XXXXXX";
static char layers_new[64]; /* is not there */

static inline bool layers_prepare(void) {
    int fd = mkstemp(layers_file);
    snprintf(layers_new, sizeof layers_new, "%s-new", layers_file);
    return fd >= 0 && close(fd) == 0;
}

static inline long try_to_connect(void) {
    const struct sockaddr_in loopback = {
        .sin_family = AF_INET, .sin_port = 0x0900, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (const struct sockaddr *)&loopback, sizeof loopback);
}

/* What Landlock refuses without the list of calls. `signals`: to processes outside, too. */
static inline bool landlock_holds(bool signals) {
    unsigned version = landlock_version();
    bool holds = refused_by(EACCES, open(layers_file, O_RDONLY), "read a file");
    holds &= refused_by(EACCES, open(layers_file, O_WRONLY), "write a file");
    holds &= refused_by(EACCES, open(layers_file, O_RDWR | O_APPEND), "append to a file");
    holds &= refused_by(EACCES, open(layers_new, O_WRONLY | O_CREAT, 0600), "create a file");
    holds &= refused_by(EACCES, open("/", O_RDONLY | O_DIRECTORY), "list a folder");
    holds &= refused_by(EACCES, mkdir(layers_new, 0700), "make a folder");
    holds &= refused_by(EACCES, unlink(layers_file), "remove a file");
    holds &= refused_by(EACCES, execl("/bin/false", "false", NULL), "run a program");
    holds &= version < TRUNCATES_SINCE || refused_by(EACCES, truncate(layers_file, 0), "truncate a file");
    holds &= version < CONNECTS_SINCE || refused_by(EACCES, try_to_connect(), "connect");
    holds &= !signals || version < SIGNALS_SINCE ||
             refused_by(EPERM, kill(getppid(), 0), "signal another process");
    return holds;
}

/* What a list of calls refuses without Landlock. `opens`: it leaves existing files to Landlock. */
static inline bool calls_hold(bool opens) {
    bool holds = opens || refused_by(ENOSYS, open(layers_file, O_WRONLY), "write a file");
    holds &= refused_by(ENOSYS, open(layers_file, O_WRONLY | O_TRUNC), "empty a file");
    holds &= refused_by(ENOSYS, open(layers_new, O_WRONLY | O_CREAT, 0600), "create a file");
    holds &= refused_by(ENOSYS, mkdir(layers_new, 0700), "make a folder");
    holds &= refused_by(ENOSYS, unlink(layers_file), "remove a file");
    holds &= refused_by(ENOSYS, execl("/bin/false", "false", NULL), "run a program");
    holds &= refused_by(ENOSYS, truncate(layers_file, 0), "truncate a file");
    holds &= refused_by(ENOSYS, socket(AF_INET, SOCK_STREAM, 0), "a socket");
    holds &= refused_by(ENOSYS, kill(getppid(), 0), "signal another process");
    return holds;
}

/* From here on the kernel knows no Landlock. False where it cannot be made so. */
static inline bool layers_hide_landlock(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool hidden =
        filter &&
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(landlock_create_ruleset), 0) == 0 &&
        seccomp_load(filter) == 0 && landlock_version() == 0;
    seccomp_release(filter);
    return hidden;
}

static inline int layers_remove_file(void **state) {
    (void)state;
    unlink(layers_file);
    remove(layers_new); /* a test that fails makes it */
    return 0;
}

#endif
