/* SPDX-License-Identifier: MIT
 * Files of slots: no process that gets one can change its size or its seals, and none maps a file that could
 * become shorter than it claims. Each case fails where one seal or one check is missing. */
#include "core/slot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SIZE = 1 << 16 };

static int sealed_file(size_t size, int seals) {
    int fd = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void assert_denied(int result) {
    assert_int_equal(result, -1);
    assert_int_equal(errno, EPERM);
}

static void test_sizes_stay(void **state) {
    (void)state;
    int fd = slot_file(SIZE);
    assert_true(fd >= 0);
    assert_denied(ftruncate(fd, SIZE - 1));
    assert_denied(ftruncate(fd, SIZE + 1));
    assert_denied(fallocate(fd, 0, SIZE, 1));
    assert_int_equal(lseek(fd, 0, SEEK_END), SIZE);
    close(fd);
}

/* With a seal against writing, an engine could keep the daemon from taking memory back. */
static void test_seals_stay(void **state) {
    (void)state;
    int fd = slot_file(SIZE);
    assert_true(fd >= 0);
    assert_denied(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    assert_denied(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE));
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, SIZE), 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC); /* programs that are started do not get it */
    close(fd);
}

static void test_sizes_are_checked(void **state) {
    (void)state;
    int fd = slot_file(SIZE);
    assert_true(slot_file_holds(fd, 0));
    assert_true(slot_file_holds(fd, SIZE));
    assert_false(slot_file_holds(fd, SIZE + 1));
    assert_false(slot_file_holds(fd, SIZE_MAX));
    close(fd);
}

static void test_seals_are_checked(void **state) {
    (void)state;
    static const struct {
        int seals;
        bool holds;
    } cases[] = {
        {0, false},
        {F_SEAL_GROW, false},
        {F_SEAL_GROW | F_SEAL_SEAL, false},
        {F_SEAL_SHRINK, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = sealed_file(SIZE, cases[i].seals);
        assert_int_equal(slot_file_holds(fd, SIZE), cases[i].holds);
        close(fd);
    }
}

static void test_other_files(void **state) {
    (void)state;
    int pipes[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_false(slot_file_holds(file, 1));
    assert_false(slot_file_holds(pipes[0], 0));
    assert_false(slot_file_holds(-1, 0));
    close(file);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_stay),        cmocka_unit_test(test_seals_stay),
        cmocka_unit_test(test_sizes_are_checked), cmocka_unit_test(test_seals_are_checked),
        cmocka_unit_test(test_other_files),
    };
    return cmocka_run_group_tests_name("slot_file", tests, NULL, NULL);
}
