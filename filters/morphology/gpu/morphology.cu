/* SPDX-License-Identifier: MIT
 * The kernels of filters/morphology/gpu/morphology.c, and small windows of median.c:
 *
 *     morphology_columns    extremes down the columns, 32 bits for each sample
 *     morphology_rows       extremes of these along the rows
 *     median_tiles          medians */
#include "filters/morphology/gpu/morphology.cuh"

#define RANK __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void RANK morphology_columns(const __grid_constant__ struct morphology_pass pass) {
    rank_columns(pass);
}

extern "C" __global__ void RANK morphology_rows(const __grid_constant__ struct morphology_pass pass) {
    rank_rows(pass);
}

extern "C" __global__ void RANK median_tiles(const __grid_constant__ struct median_pass pass) {
    rank_median_tile(pass);
}
