/* SPDX-License-Identifier: MIT
 * A kernel for a single matrix, written as text and compiled by NVRTC. It shows the possible gain for a
 * matrix in frequent use. For pictures of PIXEL_RGB and 8 bits, EDGE_CLAMP, no bias; never separable. */
#ifndef BLURD_BENCH_GPU_SPECIAL_H
#define BLURD_BENCH_GPU_SPECIAL_H

#include "bench/gpu/pictures.h"

struct special;

/* Writes, compiles and loads the kernel. ST_DEVICE without NVRTC. `pictures` must outlive it. */
enum status special_create(struct special **special, struct bench *bench, const struct pictures *pictures,
                           const struct convolve_plan *plan, struct error *err);
void special_destroy(struct special *special);

/* Enqueues it for picture i, as device_us takes it: `context` is the struct special. */
void special_run(void *context, unsigned i);

/* Time to write, compile and load the kernel. */
double special_compile_ms(const struct special *special);

#endif
