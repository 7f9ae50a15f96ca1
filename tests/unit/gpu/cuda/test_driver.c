/* SPDX-License-Identifier: MIT
 * How the CUDA driver is opened, and the error when it cannot be. */
#include "gpu/cuda/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void refused(const char *library, const char *sentence) {
    struct cuda cuda;
    struct error err = {0};
    assert_int_equal(cuda_open(&cuda, library, &err), ST_DEVICE);
    if (!strstr(err.text, sentence)) {
        fail_msg("\"%s\" is not in \"%s\"", sentence, err.text);
    }
}

static void test_missing_library(void **state) {
    (void)state;
    refused("libblurd-has-no-such.so.1", "no CUDA driver: libblurd-has-no-such.so.1: cannot open");
}

static void test_another_library(void **state) {
    (void)state;
    refused("libm.so.6", "libm.so.6 is not a CUDA driver: it lacks the function cuDriverGetVersion");
}

static void test_stub_library(void **state) {
    (void)state;
    char path[256];
    const char *home = getenv("CUDA_HOME");
    snprintf(path, sizeof path, "%.200s/lib64/stubs/libcuda.so", home ? home : "/usr/local/cuda");
    if (access(path, R_OK) != 0) {
        print_message("there is no %s: skipped\n", path);
        skip();
    }
    refused(path, "is the CUDA toolkit's stub for linking, not a driver: CUDA_ERROR_STUB_LIBRARY (34)");
}

/* tests/odd_driver, built beside this program. */
static const char *odd_driver(void) {
    static char path[512];
    ssize_t length = readlink("/proc/self/exe", path, 400);
    assert_true(length > 0);
    path[length] = '\0';
    snprintf(strrchr(path, '/'), 80, "/../odd_driver/odd_driver.so");
    return path;
}

static int forget(void **state) {
    (void)state;
    return unsetenv("ODD_VERSION") || unsetenv("ODD_INIT") || unsetenv("ODD_COUNT") || unsetenv("ODD_LACKS");
}

static void opens(int version) {
    struct cuda cuda;
    struct error err = {0};
    if (cuda_open(&cuda, odd_driver(), &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(cuda.version, version);
    assert_non_null(cuda.cuMemAlloc);
    assert_non_null(cuda.cuEventElapsedTime);
    assert_null(cuda.cuModuleLoadDataEx); /* may be missing */
    assert_int_equal(CUDA_TRY(&cuda, &err, cuStreamSynchronize, NULL), ST_OK);
}

static void test_versions(void **state) {
    (void)state;
    opens(13000);
    setenv("ODD_VERSION", "12000", 1);
    opens(12000);
    setenv("ODD_VERSION", "14020", 1);
    opens(14020);
    setenv("ODD_VERSION", "11080", 1);
    refused(odd_driver(), "is of CUDA 11.8; CUDA 12.0, driver 525, is the oldest that will do");
}

static void test_missing_function(void **state) {
    (void)state;
    setenv("ODD_LACKS", "cuMemAlloc", 1);
    refused(odd_driver(), "lacks the function cuMemAlloc");
}

static void test_no_gpu(void **state) {
    (void)state;
    setenv("ODD_COUNT", "0", 1);
    refused(odd_driver(), "the CUDA driver finds no GPU");
    setenv("ODD_INIT", "100", 1);
    refused(odd_driver(), "cuInit: CUDA_ERROR_NO_DEVICE (100)");
    setenv("ODD_INIT", "803", 1);
    refused(odd_driver(), "cuInit: an error unknown to the driver (803)");
}

static CUresult get_text(CUresult result, const char **text) {
    *text = result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_OUT_OF_MEMORY ? "TEXT" : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult init(unsigned flags) {
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void test_check(void **state) {
    (void)state;
    const struct cuda cuda = {.cuGetErrorName = get_text, .cuGetErrorString = get_text, .cuInit = init};
    struct error err = {0};
    assert_int_equal(CUDA_TRY(&cuda, &err, cuInit, 0), ST_OK);
    assert_string_equal(err.text, "");
    assert_int_equal(CUDA_TRY(&cuda, &err, cuInit, 1), ST_DEVICE);
    assert_string_equal(err.text, "cuInit: TEXT (1), TEXT");
    assert_int_equal(cuda_check(&cuda, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc", &err), ST_BUSY);
    assert_string_equal(err.text, "cuMemAlloc: TEXT (2), TEXT");
    assert_int_equal(cuda_check(&cuda, (CUresult)12345, "cuMemAlloc", &err), ST_DEVICE);
    assert_string_equal(err.text, "cuMemAlloc: an error unknown to the driver (12345), no description");
    assert_int_equal(cuda_check(&cuda, CUDA_ERROR_UNKNOWN, "cuMemAlloc", NULL), ST_DEVICE);
}

static void test_sticky(void **state) {
    (void)state;
    static const int sticky[] = {4,   214, 220, 226, 700, 702, 709, 710,  714,   715, 716,
                                 717, 718, 719, 721, 810, 911, 999, 1234, 99999, -1};
    static const int harmless[] = {0,   1,   2,   34,  100, 101, 200, 201, 209, 218,
                                   222, 304, 400, 500, 600, 701, 712, 713, 801};
    for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++) {
        assert_true(cuda_is_sticky((CUresult)sticky[i]));
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        assert_false(cuda_is_sticky((CUresult)harmless[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_library),
        cmocka_unit_test(test_another_library),
        cmocka_unit_test(test_stub_library),
        cmocka_unit_test_setup(test_versions, forget),
        cmocka_unit_test_setup(test_missing_function, forget),
        cmocka_unit_test_setup(test_no_gpu, forget),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
