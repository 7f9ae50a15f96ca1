/* SPDX-License-Identifier: MIT
 * The rectangles of a mask. */
#ifndef BLURD_GPU_FILTERS_MASK_RECT_CUH
#define BLURD_GPU_FILTERS_MASK_RECT_CUH

#include "gpu/filters/mask/mask_kernels.h"
#include "gpu/stream/grid.cuh"

enum { MASK_INSIDE = 255 };

/* The list lies in memory that another process can change, so it is checked here. */
static __device__ __forceinline__ struct kernel_rect rect_within(uint64_t rects, int index, int width,
                                                                 int height) {
    struct kernel_rect rect = ((const struct kernel_rect *)rects)[index];
    rect.x1 = (uint16_t)min((int)rect.x1, width);
    rect.y1 = (uint16_t)min((int)rect.y1, height);
    return rect;
}

#endif
