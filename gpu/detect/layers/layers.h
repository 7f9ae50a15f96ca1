/* SPDX-License-Identifier: MIT
 * Launches the kernels of steps of one layer. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYERS_H
#define BLURD_GPU_DETECT_LAYERS_LAYERS_H

#include "gpu/detect/search.h"

/* Enqueues a step of a kind from PACK_PICTURE on. ST_DEVICE with the driver's error. */
enum status layers_run(const struct search *search, const struct pack_step *step, struct error *err);

#endif
