/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels that find the components of a map (CUDA C++), by value; more of
 * it: gpu/cuda/kernels.h. detect/components.h says what components are. */
#ifndef BLURD_GPU_DETECT_COMPONENTS_KERNELS_H
#define BLURD_GPU_DETECT_COMPONENTS_KERNELS_H

#include "gpu/cuda/kernels.h"

/* A component while it is measured. */
struct component_part {
    int32_t left, top, right, bottom, pixels, peak;
    uint64_t x, y, xx, xy, yy; /* struct moments (detect/moments.h) */
};
KERNEL_SIZE_IS(component_part, 64);

struct components_pass {
    uint64_t map;        /* bytes, rows side by side */
    uint64_t labels;     /* a word for each pixel */
    uint64_t parts;      /* struct component_part, one for each four pixels, as runs are apart */
    uint64_t count;      /* of parts; a word */
    uint64_t candidates; /* struct candidates */
    int32_t width, height;
    int32_t pixel, peak; /* struct components_bounds */
    int32_t mark;        /* and what is added to the largest byte */
    int32_t most;        /* candidates that there is room for */
};
KERNEL_SIZE_IS(components_pass, 64);

#endif
