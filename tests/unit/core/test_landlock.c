/* SPDX-License-Identifier: MIT
 * Landlock as a user without rights enters it, and on a kernel that does not restrict all threads at once. */
#include "core/process/landlock.h"

#include <fcntl.h>

#include "tests/unit/core/forbidden_fixture.h" /* cmocka.h, too: it has a macro called fail */

enum {
    NOBODY = 65534,       /* number of the user without rights */
    RESTRICTS_THREADS = 8 /* first version of Landlock that restricts all threads of a process */
};

static bool reads(void) {
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    return fd >= 0 && close(fd) == 0;
}

/* The kernel refuses Landlock to a process without rights that could still gain some by executing a file. */
static int a_user(void) {
    unsigned version = landlock_version();
    if (version == 0 || (geteuid() == 0 && setuid(NOBODY) != 0)) {
        return CHILD_SKIPS;
    }
    return reads() && landlock_enter(landlock_create(version, false)) && !reads() ? 0 : 1;
}

/* The kernel may be older than it says here; then it refuses the flag. */
static int all_threads(void) {
    unsigned version = landlock_version(), missed = 1;
    if (version == 0) {
        return CHILD_SKIPS;
    }
    bool entered =
        reads() && landlock_enter_threads(landlock_create(version, false), RESTRICTS_THREADS, &missed);
    return entered && missed == 0 && !reads() ? 0 : 1;
}

static void test_a_user_without_rights(void **state) {
    (void)state;
    check_child(a_user);
}

static void test_threads(void **state) {
    (void)state;
    check_child(all_threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_user_without_rights),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
