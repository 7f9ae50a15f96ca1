/* SPDX-License-Identifier: MIT
 * The blur in whole numbers: pictures of 8 bits without alpha. */
#ifndef BLURD_GPU_BLUR_WHOLE_H
#define BLURD_GPU_BLUR_WHOLE_H

#include "gpu/blur_work.h"

/* Enqueues all passes. */
enum status blur_run_whole(struct blur_work *work, struct error *err);

#endif
