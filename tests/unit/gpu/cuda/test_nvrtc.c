/* SPDX-License-Identifier: MIT
 * The compiler of kernels, and the modules that the build made with it: every kernel, for every architecture.
 * Needs no GPU. */
#include "gpu/cuda/embedded.h"
#include "gpu/cuda/nvrtc.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const char *const kernel_names[] = {
#define KERNEL(name) #name,
#include "gpu/cuda/kernels.def"
#undef KERNEL
};
enum { KERNELS = sizeof kernel_names / sizeof *kernel_names };

static struct nvrtc open_nvrtc(void) {
    struct nvrtc nvrtc;
    struct error err = {0};
    if (nvrtc_open(&nvrtc, NULL, 13, &err) != ST_OK) {
        print_message("%s: skipped\n", err.text);
        skip();
    }
    return nvrtc;
}

/* The number stood in the lowest byte of the ELF flags, and does in the next one since
 * version 8 of the format (CUDA 13). */
static int architecture_of(const Elf64_Ehdr *head) {
    return head->e_ident[EI_ABIVERSION] >= 8 ? head->e_flags >> 8 & 0xff : head->e_flags & 0xff;
}

static void test_every_kernel_for_every_architecture(void **state) {
    (void)state;
    for (const struct embedded *cubin = embedded_cubins; cubin->data; cubin++) {
        struct buf image;
        if (!embedded_exists(cubin)) {
            print_message("the build had no NVRTC for sm_%d: skipped\n", cubin->architecture);
            skip();
        }
        assert_int_equal(embedded_image(cubin, &image, NULL), ST_OK);
        const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)image.data;
        assert_true(image.size > sizeof *head);
        assert_memory_equal(head->e_ident, ELFMAG, SELFMAG);
        assert_int_equal(head->e_machine, EM_CUDA);
        assert_int_equal(architecture_of(head), cubin->architecture);
        for (size_t i = 0; i < KERNELS; i++) {
            char section[80];
            int length = snprintf(section, sizeof section, ".text.%s", kernel_names[i]);
            assert_non_null(memmem(image.data, image.size, section, (size_t)length + 1));
        }
        buf_finish(&image);
    }
}

static void test_every_kernel_as_ptx(void **state) {
    (void)state;
    struct buf image;
    if (!embedded_exists(&embedded_ptx)) {
        print_message("the build had no NVRTC: skipped\n");
        skip();
    }
    assert_int_equal(embedded_image(&embedded_ptx, &image, NULL), ST_OK);
    const char *text = (const char *)image.data;
    assert_int_equal(strlen(text), image.size - 1);
    assert_non_null(strstr(text, ".version "));
    for (size_t i = 0; i < KERNELS; i++) {
        char entry[80];
        snprintf(entry, sizeof entry, ".entry %s(", kernel_names[i]);
        assert_non_null(strstr(text, entry));
    }
    buf_finish(&image);
}

/* How the source has the name of a kernel: macros make some of them. */
static const char *written(const char *name) {
    static const struct {
        const char *begin, *text;
    } made[] = {{"face_block_", "face_block_##"},
                {"layer_depth_", "layer_depth_##"},
                {"layer_point_", "layer_##name"},
                {"layer_dense_", "layer_##name"}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (strncmp(name, made[i].begin, strlen(made[i].begin)) == 0) {
            return made[i].text;
        }
    }
    return name;
}

static void test_the_source_is_whole(void **state) {
    (void)state;
    struct buf text = {0};
    struct error err = {0};
    assert_int_equal(embedded_image(&embedded_source, &text, &err), ST_OK);
    const char *source = (const char *)text.data;
    assert_non_null(strstr(source, "#line 1 \"filters/blur/gpu/blur.cu\"\n"));
    assert_null(strstr(source, "#include \""));
    for (size_t i = 0; i < KERNELS; i++) {
        assert_non_null(strstr(source, written(kernel_names[i])));
    }
    buf_finish(&text);
}

static void test_missing_library(void **state) {
    (void)state;
    struct nvrtc nvrtc;
    struct error err = {0};
    assert_int_equal(nvrtc_open(&nvrtc, "libblurd-has-no-such.so.1", 0, &err), ST_DEVICE);
    assert_non_null(strstr(err.text, "libblurd-has-no-such.so.1"));
    assert_int_equal(nvrtc_open(&nvrtc, NULL, 9, &err), ST_DEVICE);
    assert_string_equal(err.text, "no NVRTC: there is no libnvrtc.so of CUDA 9 or an older one");
    assert_int_equal(nvrtc_open(&nvrtc, "libm.so.6", 0, &err), ST_DEVICE);
    assert_string_equal(err.text, "this NVRTC lacks the function nvrtcVersion");
}

static void test_the_first_error_is_told(void **state) {
    (void)state;
    struct nvrtc nvrtc = open_nvrtc();
    struct nvrtc_target target = {90, false};
    struct error err = {0};
    struct buf image;
    buf_init(&image, NVRTC_IMAGE_MAX);
    static const char source[] = "#line 6 \"gpu/some.cu\"\n__global__ void k() { int unused; }\n"
                                 "__global__ void broken() { nonsense; }\nmore nonsense\n";
    assert_int_equal(nvrtc_compile(&nvrtc, source, target, &image, &err), ST_DEVICE);
    assert_non_null(strstr(err.text, "gpu/some.cu(7): error: "));
    assert_null(strchr(err.text, '\n'));
    assert_int_equal(image.size, 0);
    target.architecture = 12;
    assert_int_equal(nvrtc_compile(&nvrtc, "", target, &image, &err), ST_DEVICE);
    assert_true(err.text[0] != '\0');
    buf_finish(&image);
}

/* ptxas, which NVRTC calls, spells errors in another way, and warnings about the source come first. */
static void test_an_error_of_ptxas_is_told(void **state) {
    (void)state;
    static const struct {
        const char *source, *says;
    } cases[] = {
        {"extern \"C\" __device__ int nowhere(int);\n"
         "__global__ void k(int *p) { int unused; *p = nowhere(1); }\n",
         "Unresolved extern function 'nowhere'"},
        {"__global__ void k(int *p) { int unused; asm(\"no.such %0;\" : \"=r\"(*p)); }\n",
         "Unknown modifier"},
    };
    struct nvrtc nvrtc = open_nvrtc();
    struct nvrtc_target target = {90, false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct buf image;
        buf_init(&image, NVRTC_IMAGE_MAX);
        assert_int_equal(nvrtc_compile(&nvrtc, cases[i].source, target, &image, &err), ST_DEVICE);
        if (!strstr(err.text, "ptxas") || !strstr(err.text, cases[i].says)) {
            fail_msg("%s", err.text);
        }
        buf_finish(&image);
    }
}

static void test_choice_and_description(void **state) {
    (void)state;
    struct nvrtc nvrtc = open_nvrtc();
    struct nvrtc_target target;
    char text[NVRTC_DESCRIPTION_MAX], ptx_text[NVRTC_DESCRIPTION_MAX];
    assert_int_equal(nvrtc_choose(&nvrtc, 90, &target, NULL), ST_OK);
    assert_true(target.architecture == 90 && !target.ptx);
    nvrtc_describe(&nvrtc, target, text);
    assert_non_null(strstr(text, "--gpu-architecture=sm_90"));
    assert_non_null(strstr(text, "--fmad=false"));
    assert_int_equal(nvrtc_choose(&nvrtc, 999, &target, NULL), ST_OK);
    assert_true(target.architecture >= 90 && target.ptx);
    nvrtc_describe(&nvrtc, target, ptx_text);
    assert_non_null(strstr(ptx_text, "--gpu-architecture=compute_"));
    assert_int_equal(nvrtc_choose(&nvrtc, 10, &target, NULL), ST_DEVICE);
}

static void test_standard_types(void **state) {
    (void)state;
    struct nvrtc nvrtc = open_nvrtc();
    struct error err = {0};
    struct buf image;
    buf_init(&image, NVRTC_IMAGE_MAX);
    static const char source[] =
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        "struct s { int32_t a; uint64_t b; bool c; };\n"
        "static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int64_t) == 8, \"\");\n"
        "static_assert(sizeof(s) == 24 && sizeof(size_t) == 8 && (uint8_t)-1 == 255, \"\");\n"
        "extern \"C\" __global__ void k(s *p) { p->a = 1; }\n";
    if (nvrtc_compile(&nvrtc, source, (struct nvrtc_target){75, true}, &image, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(strnlen((const char *)image.data, image.size), image.size);
    assert_non_null(memmem(image.data, image.size, ".entry k(", 9));
    buf_finish(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel_for_every_architecture),
        cmocka_unit_test(test_every_kernel_as_ptx),
        cmocka_unit_test(test_the_source_is_whole),
        cmocka_unit_test(test_missing_library),
        cmocka_unit_test(test_the_first_error_is_told),
        cmocka_unit_test(test_an_error_of_ptxas_is_told),
        cmocka_unit_test(test_choice_and_description),
        cmocka_unit_test(test_standard_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
