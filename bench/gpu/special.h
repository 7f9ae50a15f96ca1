/* SPDX-License-Identifier: MIT
 * A kernel that knows one matrix, written as text and compiled by NVRTC: what a matrix that is seen often
 * could gain. For pictures of PIXEL_RGB and 8 bits, EDGE_CLAMP, no bias; direct, never separable. */
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

/* What writing, compiling and loading took. */
double special_compile_ms(const struct special *special);

#endif
