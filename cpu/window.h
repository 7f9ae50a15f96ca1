/* SPDX-License-Identifier: MIT
 * The part of a picture that a chain under a mask computes. */
#ifndef BLURD_CPU_WINDOW_H
#define BLURD_CPU_WINDOW_H

#include "filters/window.h"

/* The part over which the masked steps of the chain run. It holds all pixels of `mask` that are not 0, and
 * what the filters read around them. Width and height are 0 where the mask is 0 everywhere. The mask has the
 * size of `source`. */
struct crop_plan window_under(const struct chain *chain, const struct image *source,
                              const struct image *mask);

#endif
