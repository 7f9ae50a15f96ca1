/* SPDX-License-Identifier: MIT
 * SSE2, which every x86-64 has, or plain C. */
#include "cpu/detect/detect_registers.h"

#if defined(__SSE2__)
#include "cpu/detect/simd/sse2.h"
#else
#include "cpu/detect/simd/plain.h"
#endif
/* this needs the vectors above */
#include "cpu/detect/detect_depth.h"

const struct detect_kernels *detect_kernels_baseline(void) {
    return &detect_words;
}
