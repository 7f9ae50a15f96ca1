/* SPDX-License-Identifier: MIT
 * How the CUDA driver is opened, and what is said when it cannot be. */
#include "gpu/driver.h"

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
        cmocka_unit_test(test_missing_library), cmocka_unit_test(test_another_library),
        cmocka_unit_test(test_stub_library),    cmocka_unit_test(test_check),
        cmocka_unit_test(test_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
