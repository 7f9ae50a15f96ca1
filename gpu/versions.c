/* SPDX-License-Identifier: MIT */
#include "gpu/versions.h"

#include <cuda.h>

/* Digit by digit, since the preprocessor cannot spell the quotients of CUDA_VERSION
 * (13000 for 13.0), and a constant needs neither a buffer nor a moment to fill it. */
#define DIGIT(number) (char)('0' + (number) % 10)

_Static_assert(CUDA_VERSION >= 10000 && CUDA_VERSION < 100000, "two digits, a point, one digit");

/* clang-format off */
static const char versions[] = {
    'c', 'u', 'd', 'a', ' ',
    DIGIT(CUDA_VERSION / 10000), DIGIT(CUDA_VERSION / 1000), '.', DIGIT(CUDA_VERSION / 10),
    '\0',
};
/* clang-format on */

const char *gpu_build_versions(void) {
    return versions;
}
