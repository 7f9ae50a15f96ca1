/* SPDX-License-Identifier: MIT */
#include "cpu/detect/simd/plain.h"
/* this needs the vectors above */
#include "cpu/detect/detect_depth.h"

const struct detect_kernels *detect_kernels_plain(void) {
    return &detect_words;
}
