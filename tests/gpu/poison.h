/* SPDX-License-Identifier: MIT
 * Memory that is not cleared holds what another request left, and a kernel that read it would put parts of
 * one picture into another. With --poison, before every launch a kernel fills the shared memory of all
 * multiprocessors, and whenever a part of the program reserves device memory (gpu_buffer_reserve, which the
 * linker wraps), what it asked for is filled. The pattern is another one each time, so that every comparison
 * with the CPU fails that depends on it. Launches go one by one, without graphs, as nothing comes between the
 * kernels of a graph. */
#ifndef BLURD_TESTS_GPU_POISON_H
#define BLURD_TESTS_GPU_POISON_H

#include "gpu/cuda/device.h"

/* Takes the graphs from the driver, before streams are made. */
void poison_begin(struct cuda *cuda);

/* From now on, launches by this driver and reservations of memory are preceded by poison. Needs NVRTC, except
 * with the driver for tests, which has the kernel. */
enum status poison_open(struct cuda *cuda, const struct gpu_device *device, struct error *err);

/* Prints how much was poisoned, if anything was. */
void poison_report(void);

#endif
