/* SPDX-License-Identifier: MIT */
#include "gpu/front/versions.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>

#include "gpu/cuda/embedded.h"

/* The preprocessor cannot spell the quotients of CUDA_VERSION (13000 for 13.0). */
#define DIGIT(number) (char)('0' + (number) % 10)

_Static_assert(CUDA_VERSION >= 10000 && CUDA_VERSION < 100000, "two digits, a point, one digit");

/* clang-format off */
static const char versions[] = {
    'c', 'u', 'd', 'a', ' ',
    DIGIT(CUDA_VERSION / 10000), DIGIT(CUDA_VERSION / 1000), '.', DIGIT(CUDA_VERSION / 10),
    '\0',
};
/* clang-format on */

const char *gpu_versions_text(void) {
    return versions;
}

/* Appends the name of a piece of code, if the build has it. */
static size_t add(char text[GPU_SUPPORT_MAX], size_t at, const char *kind, const struct embedded *code,
                  bool first) {
    if (!embedded_exists(code)) {
        return at;
    }
    return at + (size_t)snprintf(text + at, GPU_SUPPORT_MAX - at, "%s%s_%d", first ? "; kernels for " : ", ",
                                 kind, code->architecture);
}

void gpu_versions_support(char text[GPU_SUPPORT_MAX]) {
    size_t begin = (size_t)snprintf(text, GPU_SUPPORT_MAX, "%s", versions);
    size_t at = begin;
    for (const struct embedded *one = embedded_cubins; one->data; one++) {
        at = add(text, at, "sm", one, at == begin);
    }
    at = add(text, at, "compute", &embedded_ptx, at == begin);
    if (at == begin) {
        snprintf(text + at, GPU_SUPPORT_MAX - at, "; no kernels, NVRTC compiles them at the start");
    }
}
