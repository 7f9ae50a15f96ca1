/* SPDX-License-Identifier: MIT
 * The part of the self-test with JPEGs, which follows that of the filters. */
#ifndef BLURD_GPU_FRONT_SELFTEST_JPEG_H
#define BLURD_GPU_FRONT_SELFTEST_JPEG_H

#include <stdatomic.h>

#include "gpu/front/link.h"
#include "gpu/gpu.h"

/* A bit beside those of the filters: the GPU gets no JPEGs. */
#define SELFTEST_JPEGS (UINT32_C(1) << 31)

/* Lets the engine make each of options->sample, in the slot. The first one with other bytes than expected,
 * or that the engine refuses or fails at, adds SELFTEST_JPEGS to *refused, and a warning tells why. With that
 * bit nothing is tried, and *pictures, which are in progress at most, becomes 0. ST_DEVICE after a run that
 * fails: the engine must be ended. */
enum status selftest_jpeg_run(struct engine_link *link, struct slot *slot, const struct gpu_options *options,
                              uint32_t *pictures, _Atomic uint32_t *refused, struct error *err);

#endif
