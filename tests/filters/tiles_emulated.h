/* SPDX-License-Identifier: MIT
 * The instructions of cpu/detect/simd/amx.h in plain C, as Intel's manual has them (volume 2, TDPBUSD,
 * TILELOADD, TILESTORED, LDTILECFG). What would fault stops the program. */
#ifndef BLURD_TESTS_FILTERS_TILES_EMULATED_H
#define BLURD_TESTS_FILTERS_TILES_EMULATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMULATED_TILES = 8, EMULATED_ROWS = 16, EMULATED_BYTES = 64 };

/* Reads 64 bytes. */
void tiles_emulated_configure(const void *shapes);
void tiles_emulated_release(void);
void tiles_emulated_zero(unsigned tile);
void tiles_emulated_load(unsigned tile, const void *from, size_t stride);
void tiles_emulated_store(unsigned tile, void *to, size_t stride);
/* sums += unsigned inputs * signed weights */
void tiles_emulated_dot(unsigned sums, unsigned inputs, unsigned weights);

/* Whether tiles have shapes, and with them data. */
bool tiles_emulated_configured(void);

/* What faulted since the last call, or NULL; with it an instruction that faults does nothing. */
const char *tiles_emulated_fault(void);

#define TILES_CONFIGURE(shapes) tiles_emulated_configure(shapes)
#define TILES_RELEASE() tiles_emulated_release()
#define TILES_LOAD(tile, from, stride) tiles_emulated_load(tile, from, stride)
#define TILES_STORE(tile, to, stride) tiles_emulated_store(tile, to, stride)
#define TILES_DOT(sums, inputs, weights) tiles_emulated_dot(sums, inputs, weights)

#endif
