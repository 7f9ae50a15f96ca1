/* SPDX-License-Identifier: MIT
 * Checks of a run that the front has sent: it may be compromised or faulty. */
#ifndef BLURD_GPU_ENGINE_ENGINE_CHECK_H
#define BLURD_GPU_ENGINE_ENGINE_CHECK_H

#include "gpu/wire/wire.h"

/* The layouts of the pictures of a run, without memory. */
struct engine_pictures {
    struct image source, target, mask;
};

/* Checks a run from pixels to pixels and fills the layouts. ST_INTERNAL when a number is out of bounds, or a
 * picture does not lie in the slot. */
enum status engine_check_pixels(const struct wire_run *run, struct engine_pictures *pictures,
                                struct error *err);

/* The same for a run from JPEG to JPEG. The JPEG and the list of rectangles are in memory that the front can
 * still change, so their content is not checked here. */
enum status engine_check_jpeg(const struct wire_run *run, struct error *err);

#endif
