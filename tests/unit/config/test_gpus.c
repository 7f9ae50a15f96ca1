/* SPDX-License-Identifier: MIT */
#include "config/gpus.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static char folder[] = "/tmp/blurd-test-gpus-XXXXXX";

static void path_of(char path[64], const char *name) {
    snprintf(path, 64, "%s/%s", folder, name);
}

static void make(const char *name) {
    char path[64];
    path_of(path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static int open_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static const char *const names[] = {"nvidia0",        "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm",
                                    "nvidia-caps",    "nvidia",  "nvidi4",   "anvidia0",  "null",
                                    "nvidia-modeset", "NVIDIA0", "nvidia_0"};

static int close_folder(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        path_of(path, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void test_device_files(void **state) {
    (void)state;
    assert_int_equal(gpus_hint("all", folder), 0);
    for (size_t i = 3; i < sizeof names / sizeof *names; i++) {
        make(names[i]);
    }
    assert_int_equal(gpus_hint("all", folder), 0);
    for (unsigned i = 0; i < 3; i++) {
        make(names[i]);
        assert_int_equal(gpus_hint("all", folder), i + 1);
    }
}

static void test_named_ones(void **state) {
    (void)state;
    assert_int_equal(gpus_hint("0", folder), 1);
    assert_int_equal(gpus_hint("0,2", folder), 2);
    assert_int_equal(gpus_hint("7,1,3,15", "/nonexistent"), 4);
}

static void test_no_folder(void **state) {
    (void)state;
    assert_int_equal(gpus_hint("all", "/nonexistent"), 0);
    assert_int_equal(gpus_hint("all", "/dev/null"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_files),
        cmocka_unit_test(test_named_ones),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
