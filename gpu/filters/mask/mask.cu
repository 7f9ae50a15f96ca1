/* SPDX-License-Identifier: MIT
 * The kernels of gpu/filters/mask/mask.c:
 *
 *     mask_draw        sets rectangles of a mask
 *     mask_edit        inverts a mask, or keeps pixels of one above 0
 *     redact_settle    rounds a mask out to blocks of the JPEG, which become a region
 *     redact_sums      sums up the samples of regions, and notes the regions of blocks; or sums up rings
 *     redact_fill      overwrites blocks */
#include "gpu/filters/mask/mask.cuh"
#include "gpu/filters/mask/redact.cuh"

#define MASK __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void MASK mask_draw(const __grid_constant__ struct mask_draw_pass pass) {
    mask_draw_rect(pass);
}

extern "C" __global__ void MASK mask_edit(const __grid_constant__ struct mask_edit_pass pass) {
    mask_edit_tile(pass);
}

extern "C" __global__ void MASK redact_settle(const __grid_constant__ struct redact_pass pass) {
    redact_settle_blocks(pass);
}

extern "C" __global__ void MASK redact_sums(const __grid_constant__ struct redact_pass pass) {
    redact_add(pass);
}

extern "C" __global__ void MASK redact_fill(const __grid_constant__ struct redact_pass pass) {
    redact_fill_part(pass);
}
