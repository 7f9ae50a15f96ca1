/* SPDX-License-Identifier: MIT
 * Which form of the kernels is loaded for which GPU, with a driver that is this file. */
#include "core/log.h"
#include "gpu/cuda/embedded.h"
#include "gpu/cuda/nvrtc.h"
#include "gpu/cuda/program.h"
#include "gpu/front/versions.h"
#include "tests/unit/time_limit.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

unsigned time_limit_seconds = 400; /* NVRTC compiles all kernels */

enum { CODEC_KERNELS = KERNEL_encode_stuff - KERNEL_huffman_sync + 1 };

/* --- the driver -------------------------------------------------------------------------- */
static struct {
    CUresult cubin, ptx, function; /* the result of loading these, or of looking up a kernel */
    CUresult attribute;
    const char *jit_log;
    unsigned loads, unloads;
    unsigned divided; /* kernels of codecs, with a preferred division of memory */
} fake;

static CUresult load_data(CUmodule *module, const void *image) {
    CUresult result = memcmp(image, "\177ELF", 4) == 0 ? fake.cubin : fake.ptx;
    if (result == CUDA_SUCCESS) {
        assert_true(memcmp(image, "\177ELF", 4) == 0 || strstr(image, ".version"));
        *module = (CUmodule)&fake;
        fake.loads++;
    }
    return result;
}

static CUresult load_data_ex(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                             void **values) {
    CUresult result = load_data(module, image);
    assert_int_equal(count, 2);
    assert_int_equal(options[0], CU_JIT_ERROR_LOG_BUFFER);
    assert_int_equal(options[1], CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    if (result != CUDA_SUCCESS && fake.jit_log) {
        snprintf(values[0], (size_t)(uintptr_t)values[1], "%s", fake.jit_log);
    }
    return result;
}

static CUresult unload(CUmodule module) {
    assert_ptr_equal(module, &fake);
    fake.unloads++;
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name) {
    assert_ptr_equal(module, &fake);
    assert_true(name[0] != '\0');
    memcpy(function, &name, sizeof name); /* any pointer that is not NULL */
    return fake.function;
}

static CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
    static const char *const codecs[] = {"huffman_", "decode_", "read_scans", "encode_"};
    const char *name;
    bool is_codec = false;
    memcpy(&name, &function, sizeof name);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        is_codec |= strncmp(name, codecs[i], strlen(codecs[i])) == 0;
    }
    assert_true(is_codec);
    assert_int_equal(attribute, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    assert_in_range(value, 1, 100);
    fake.divided++;
    return fake.attribute;
}

static CUresult get_name(CUresult result, const char **text) {
    static char name[32];
    snprintf(name, sizeof name, "ERROR-%d", (int)result);
    *text = name;
    return CUDA_SUCCESS;
}

static struct cuda driver = {.version = 13000,
                             .cuModuleLoadData = load_data,
                             .cuModuleLoadDataEx = load_data_ex,
                             .cuModuleUnload = unload,
                             .cuModuleGetFunction = get_function,
                             .cuFuncSetAttribute = set_attribute,
                             .cuGetErrorName = get_name,
                             .cuGetErrorString = get_name};

/* --- helpers ------------------------------------------------------------------------------- */
static int reset(void **state) {
    (void)state;
    memset(&fake, 0, sizeof fake);
    return 0;
}

static void need_embedded(void) {
    for (const struct embedded *cubin = embedded_cubins; cubin->data; cubin++) {
        if (!embedded_exists(cubin)) {
            print_message("the build had no NVRTC, or an older one: skipped\n");
            skip();
        }
    }
}

static void need_nvrtc(void) {
    struct nvrtc nvrtc;
    struct error err = {0};
    if (nvrtc_open(&nvrtc, NULL, 13, &err) != ST_OK) {
        print_message("%s: skipped\n", err.text);
        skip();
    }
}

/* NVRTC takes ten seconds for all kernels and a fraction of one for this; its code is handled in the same
 * way. AddressSanitizer does not see into NVRTC, so that only the other builds compile all kernels. */
static const char short_source[] = "extern \"C\" __global__ void nothing() {}";
#ifdef __SANITIZE_ADDRESS__
#define WHOLE_SOURCE short_source
#else
#define WHOLE_SOURCE NULL
#endif

static void loads_as(int architecture, enum module_format format, const char *folder, const char *how) {
    struct program program;
    struct error err = {0};
    const struct program_options options = {.format = format,
                                            .cache_folder = folder,
                                            .source = folder && folder[0] ? short_source : WHOLE_SOURCE};
    if (program_load(&program, &driver, architecture / 10, architecture % 10, &options, &err) != ST_OK) {
        fail_msg("sm_%d: %s", architecture, err.text);
    }
    assert_string_equal(program.how, how);
    assert_int_equal(fake.divided, CODEC_KERNELS);
    fake.divided = 0;
    assert_true((program.compile_ns > 0) == (strstr(how, "nvrtc") && !strstr(how, "cached")));
    for (int i = 0; i < KERNEL_COUNT; i++) {
        assert_non_null(program.kernel[i]);
    }
    program_unload(&program, &driver);
    assert_null(program.module);
    program_unload(&program, &driver);
    assert_int_equal(fake.loads, fake.unloads);
}

static void fails_with(int architecture, enum module_format format, enum status status, const char *words) {
    struct program program;
    struct error err = {0};
    const struct program_options options = {.format = format, .source = short_source};
    assert_int_equal(program_load(&program, &driver, architecture / 10, architecture % 10, &options, &err),
                     status);
    if (!strstr(err.text, words)) {
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
    }
    assert_null(program.module);
}

/* --- tests --------------------------------------------------------------------------------- */
static void test_the_nearest_cubin(void **state) {
    (void)state;
    need_embedded();
    static const struct {
        int architecture;
        const char *how;
    } cases[] = {
        {75, "cubin sm_75"},     {80, "cubin sm_80"},   {86, "cubin sm_80"},   {87, "cubin sm_80"},
        {89, "cubin sm_80"},     {90, "cubin sm_90"},   {100, "cubin sm_100"}, {103, "cubin sm_100"},
        {110, "ptx compute_75"}, {120, "cubin sm_120"}, {121, "cubin sm_120"}, {130, "ptx compute_75"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loads_as(cases[i].architecture, MODULE_AUTO, NULL, cases[i].how);
    }
    fails_with(70, MODULE_CUBIN, ST_DEVICE, "no machine code for sm_70");
    fails_with(70, MODULE_PTX, ST_DEVICE, "no PTX for sm_70");
    fails_with(110, MODULE_CUBIN, ST_DEVICE, "no machine code for sm_110");
}

static void test_a_refused_cubin(void **state) {
    (void)state;
    need_embedded();
    fake.cubin = CUDA_ERROR_NO_BINARY_FOR_GPU;
    loads_as(90, MODULE_AUTO, NULL, "ptx compute_75");
    fails_with(90, MODULE_CUBIN, ST_DEVICE, "cuModuleLoadData: ERROR-209");
    fake.cubin = CUDA_ERROR_OUT_OF_MEMORY;
    fails_with(90, MODULE_CUBIN, ST_BUSY, "ERROR-2");
}

static void test_refused_ptx(void **state) {
    (void)state;
    need_embedded();
    fake.ptx = CUDA_ERROR_INVALID_PTX;
    fake.jit_log = "ptxas: line 5: unheard of\nand more";
    fails_with(90, MODULE_PTX, ST_DEVICE, "ERROR-218");
    fails_with(90, MODULE_PTX, ST_DEVICE, "ptxas: line 5: unheard of");
    fake.jit_log = NULL;
    fails_with(90, MODULE_PTX, ST_DEVICE, "cuModuleLoadDataEx: ERROR-218");
    driver.cuModuleLoadDataEx = NULL;
    fails_with(90, MODULE_PTX, ST_DEVICE, "cuModuleLoadData: ERROR-218");
    fake.ptx = CUDA_SUCCESS;
    loads_as(90, MODULE_PTX, NULL, "ptx compute_75");
    driver.cuModuleLoadDataEx = load_data_ex;
}

/* All that was tried is told, since the last alone may be the least telling. */
static void test_a_missing_kernel(void **state) {
    (void)state;
    struct program program;
    struct error err = {0};
    const struct program_options options = {.format = MODULE_AUTO};
    need_embedded();
    fake.function = CUDA_ERROR_NOT_FOUND;
    driver.version = 9000; /* there is no NVRTC for it */
    assert_int_equal(program_load(&program, &driver, 9, 0, &options, &err), ST_DEVICE);
    driver.version = 13000;
    assert_non_null(strstr(err.text, "cubin: "));
    assert_non_null(strstr(err.text, ": ERROR-500 (500), ERROR-500; ptx: "));
    assert_non_null(strstr(err.text, ": ERROR-500 (500), ERROR-500; nvrtc: no NVRTC"));
    assert_int_equal(fake.loads, 2);
    assert_int_equal(fake.unloads, 2);
}

static void test_nothing_is_freed_after_a_sticky_error(void **state) {
    (void)state;
    need_embedded();
    fake.function = CUDA_ERROR_ILLEGAL_ADDRESS;
    fails_with(90, MODULE_CUBIN, ST_DEVICE, "ERROR-700");
    assert_int_equal(fake.loads, 1);
    assert_int_equal(fake.unloads, 0);
    fake.function = CUDA_SUCCESS;
    fake.attribute = CUDA_ERROR_LAUNCH_FAILED;
    fails_with(90, MODULE_CUBIN, ST_DEVICE, "ERROR-719");
    assert_int_equal(fake.loads, 2);
    assert_int_equal(fake.unloads, 0);
}

static void test_nvrtc(void **state) {
    (void)state;
    need_nvrtc();
    loads_as(90, MODULE_NVRTC, "", "nvrtc sm_90");
    fake.cubin = CUDA_ERROR_INVALID_IMAGE;
    fails_with(75, MODULE_NVRTC, ST_DEVICE, "nvrtc: cuModuleLoadData: ERROR-200");
    fails_with(30, MODULE_NVRTC, ST_DEVICE, "as old as sm_30");
}

static void only_file(const char *folder, char path[160]) {
    DIR *listing = opendir(folder);
    unsigned count = 0;
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] != '.') {
            snprintf(path, 160, "%.60s/%.90s", folder, entry->d_name);
            count++;
        }
    }
    closedir(listing);
    assert_int_equal(count, 1);
}

static void damage(const char *path) {
    uint8_t byte;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, 1000), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, 1000), 1);
    close(fd);
}

static void test_nvrtc_cache(void **state) {
    (void)state;
    need_nvrtc();
    char folder[64] = "/tmp/blurd-XXXXXX", path[160];
    assert_non_null(mkdtemp(folder));
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90");
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90 (cached)");
    only_file(folder, path);
    damage(path);
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90");
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90 (cached)");
    driver.version = 13010; /* another driver may want another code */
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90");
    driver.version = 13000;
    assert_int_equal(chmod(folder, 0755), 0); /* others might have written in it */
    loads_as(90, MODULE_NVRTC, folder, "nvrtc sm_90");
    unlink(path);
    only_file(folder, path); /* the other driver's */
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* `blurd --version` names the architectures that the build has. */
static void test_the_named_kernels(void **state) {
    (void)state;
    char text[GPU_SUPPORT_MAX + 1] = "", name[32];
    bool any = embedded_exists(&embedded_ptx);
    gpu_versions_support(text);
    assert_memory_equal(text, gpu_versions_text(), strlen(gpu_versions_text()));
    memcpy(text + strlen(text), ",", sizeof ","); /* behind the last name, too */
    for (const struct embedded *cubin = embedded_cubins; cubin->data; cubin++) {
        bool has = embedded_exists(cubin);
        any = any || has;
        snprintf(name, sizeof name, " sm_%d,", cubin->architecture);
        assert_int_equal(strstr(text, name) != NULL, has);
    }
    assert_int_equal(strstr(text, "; kernels for ") != NULL, any);
    assert_int_equal(strstr(text, "; no kernels, NVRTC compiles them at the start") != NULL, !any);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_named_kernels),
        cmocka_unit_test_setup(test_the_nearest_cubin, reset),
        cmocka_unit_test_setup(test_a_refused_cubin, reset),
        cmocka_unit_test_setup(test_refused_ptx, reset),
        cmocka_unit_test_setup(test_a_missing_kernel, reset),
        cmocka_unit_test_setup(test_nothing_is_freed_after_a_sticky_error, reset),
        cmocka_unit_test_setup(test_nvrtc, reset),
        cmocka_unit_test_setup(test_nvrtc_cache, reset),
    };
    log_init(LOG_ERROR, LOG_TEXT); /* the tests bring about many a warning */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
