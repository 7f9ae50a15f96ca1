/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernel that finds anchors with a high enough score (CUDA C++), by value;
 * more of it: gpu/cuda/kernels.h. detect/anchors.h says what anchors are. */
#ifndef BLURD_GPU_DETECT_ANCHORS_KERNELS_H
#define BLURD_GPU_DETECT_ANCHORS_KERNELS_H

#include "gpu/cuda/kernels.h"

enum { KERNEL_ANCHOR_PLACE = 4 /* bytes */ };

struct anchors_pass {
    uint64_t cells;      /* rows side by side */
    uint64_t candidates; /* struct candidates */
    int32_t width;
    int32_t anchors, bytes; /* of a cell */
    int32_t total;          /* anchors of all cells */
    int32_t first;          /* the number of the first anchor of a cell */
    int32_t least;          /* score */
    int32_t most;           /* candidates that there is room for */
    int32_t reserved;
};
KERNEL_SIZE_IS(anchors_pass, 48);

#endif
