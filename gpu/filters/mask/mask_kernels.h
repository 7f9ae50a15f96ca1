/* SPDX-License-Identifier: MIT
 * What the launcher (C) hands to the kernels of masks and redaction (CUDA C++), by value; more of it:
 * gpu/cuda/kernels.h. */
#ifndef BLURD_GPU_FILTERS_MASK_MASK_KERNELS_H
#define BLURD_GPU_FILTERS_MASK_MASK_KERNELS_H

#include "gpu/cuda/kernels.h"

enum {
    KERNEL_MASK_TILE_WIDTH = 128, /* of a mask whose pixels are changed one by one */
    KERNEL_MASK_TILE_HEIGHT = 16,
    KERNEL_REDACT_BLOCKS = 32, /* adjacent blocks of the JPEG that a block of threads redacts */
    KERNEL_REDACT_SUMS = 6,    /* of a region: the total of each plane's samples, and their number */
    KERNEL_REDACT_BOUNDS = 4,  /* of all blocks inside: columns - the first one's, rows - the first one's, the
                                  last one's column + 1 and row + 1 */
};

enum { KERNEL_FILL_MEAN, KERNEL_FILL_COLOUR, KERNEL_FILL_RING }; /* enum fill_kind */

/* struct mask_plan_rect of filters/mask/mask_plan.h. */
struct kernel_rect {
    uint16_t x0, y0, x1, y1;
    uint16_t region, reserved;
};
KERNEL_SIZE_IS(kernel_rect, 12);

/* Sets the rectangles to 255. One block of threads for each. */
struct mask_draw_pass {
    struct kernel_grid mask;
    uint64_t rects; /* address */
};
KERNEL_SIZE_IS(mask_draw_pass, 48);

/* Inverts the mask, or changes the mask `soft` where it is 0 and the mask is not. */
struct mask_edit_pass {
    struct kernel_grid mask, soft;
    struct kernel_tiles tiles;
    int32_t invert; /* 0: changes `soft` */
    int32_t reserved;
};
KERNEL_SIZE_IS(mask_edit_pass, 112);

struct redact_plane {
    struct kernel_grid samples;
    int32_t shift_x, shift_y;
};
KERNEL_SIZE_IS(redact_plane, 48);

/* A *block* is one of the JPEG's. owners has a number for each: 0, or 1 + the region that shows there. */
struct redact_pass {
    struct redact_plane plane[KERNEL_PLANES];
    struct kernel_grid mask; /* only where it decides: `inside` */
    uint64_t rects, owners;  /* addresses */
    uint64_t sums;           /* address; KERNEL_REDACT_SUMS of 64 bits for each region, and for all */
    uint64_t bounds;         /* address; KERNEL_REDACT_BOUNDS of 32 bits */
    int32_t planes;
    int32_t columns, rows;             /* of blocks */
    int32_t block_width, block_height; /* in pixels */
    int32_t parts;                     /* of KERNEL_REDACT_BLOCKS blocks in a row of them */
    int32_t regions;
    int32_t inside; /* 1: what the mask covers is the only region, else the rectangles are */
    int32_t invert; /* the mask covers what is not 255, else what is not 0 */
    uint32_t look;
    int32_t fill;      /* KERNEL_FILL_… */
    int32_t ring;      /* 0: samples inside count; else its width in pixels, and samples outside count */
    uint8_t colour[4]; /* KERNEL_FILL_COLOUR: of each plane; KERNEL_FILL_RING: where nothing counts */
    int32_t reserved;
};
KERNEL_SIZE_IS(redact_pass, 272);

#endif
