/* SPDX-License-Identifier: MIT
 * Levels of the networks' kernels whose dense layers are those of AMX, cpu/detect/simd/tiles.h, on emulated
 * tiles. They give the bytes of all other levels. */
#ifndef BLURD_TESTS_FILTERS_TILES_KERNELS_H
#define BLURD_TESTS_FILTERS_TILES_KERNELS_H

#include "cpu/detect/detect_kernels.h"

/* All else is plain C. */
const struct detect_kernels *tiles_kernels_plain(void);

#if defined(__x86_64__)
/* All else is that of AVX-512, which the processor must have. */
const struct detect_kernels *tiles_kernels_avx512(void);
#endif

#endif
