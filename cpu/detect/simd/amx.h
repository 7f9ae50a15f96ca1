/* SPDX-License-Identifier: MIT
 * The instructions of AMX that cpu/detect/simd/tiles.h is made of. A tile is a register of up to 16 rows of
 * up to 64 bytes; its number, 0 to 7, is a literal. tests/filters/tiles_emulated.h has them in plain C. */
#ifndef BLURD_CPU_DETECT_SIMD_AMX_H
#define BLURD_CPU_DETECT_SIMD_AMX_H

#include <immintrin.h>

/* GCC believes that the instruction that follows reads eight bytes of them. */
static inline void tiles_written(const void *shapes) {
    __asm__ volatile("" ::"r"(shapes) : "memory");
}

#define TILES_CONFIGURE(shapes) (tiles_written(shapes), _tile_loadconfig(shapes))
#define TILES_RELEASE() _tile_release()
#define TILES_LOAD(tile, from, stride) _tile_loadd(tile, from, stride)
#define TILES_STORE(tile, to, stride) _tile_stored(tile, to, stride)
#define TILES_DOT(sums, inputs, weights) _tile_dpbusd(sums, inputs, weights)

#endif
