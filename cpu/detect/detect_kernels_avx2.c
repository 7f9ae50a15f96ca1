/* SPDX-License-Identifier: MIT */
#if defined(__x86_64__)
#include "cpu/detect/detect_registers.h"

#include "cpu/detect/simd/avx2.h"
/* this needs the vectors above */
#include "cpu/detect/detect_depth.h"

const struct detect_kernels *detect_kernels_avx2(void) {
    return &detect_words;
}
#else
typedef int nothing_here; /* ISO C forbids an empty file */
#endif
