/* SPDX-License-Identifier: MIT
 * Draws and changes masks of one byte a pixel. */
#ifndef BLURD_GPU_FILTERS_MASK_MASK_CUH
#define BLURD_GPU_FILTERS_MASK_MASK_CUH

#include "gpu/filters/mask/rect.cuh"

static __device__ __forceinline__ void mask_draw_rect(const struct mask_draw_pass &pass) {
    struct kernel_rect rect = rect_within(pass.rects, (int)blockIdx.x, pass.mask.width, pass.mask.height);
    for (int y = rect.y0 + (int)threadIdx.y; y < rect.y1; y += KERNEL_THREADS_Y) {
        for (int x = rect.x0 + (int)threadIdx.x; x < rect.x1; x += KERNEL_THREADS_X) {
            row_of<uint8_t>(pass.mask, y)[x] = MASK_INSIDE;
        }
    }
}

static __device__ __forceinline__ void mask_edit_tile(const struct mask_edit_pass &pass) {
    struct tile tile = tile_of(pass.tiles, pass.mask);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            uint8_t *mask = row_of<uint8_t>(pass.mask, y) + x;
            if (pass.invert) {
                *mask = (uint8_t) ~*mask;
            } else if (*mask) {
                uint8_t *soft = row_of<uint8_t>(pass.soft, y) + x;
                *soft = *soft ? *soft : 1;
            }
        }
    }
}

#endif
