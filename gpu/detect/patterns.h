/* SPDX-License-Identifier: MIT
 * Launches the kernels of steps that are patterns of several layers. */
#ifndef BLURD_GPU_DETECT_PATTERNS_H
#define BLURD_GPU_DETECT_PATTERNS_H

#include "gpu/detect/search.h"

/* Enqueues a step of a kind up to PACK_HEADS. ST_DEVICE with the driver's error. */
enum status patterns_run(const struct search *search, const struct pack_step *step, struct error *err);

#endif
