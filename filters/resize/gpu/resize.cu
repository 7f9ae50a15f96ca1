/* SPDX-License-Identifier: MIT
 * The kernels of filters/resize/gpu/resize.c:
 *
 *     resize_weights    weights of all axes
 *     resize_columns_N  sums of columns of N bits, with alpha or without
 *     resize_rows_N     sums of these in rows, and samples of N channels
 *     resize_rows_long  the same for rows that are made much smaller */
#include "filters/resize/gpu/resize.cuh"
#include "filters/resize/gpu/resize_long.cuh"

#define RESIZE __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void RESIZE resize_weights(const __grid_constant__ struct resize_weights_pass pass) {
    resize_line_weights(pass);
}

extern "C" __global__ void RESIZE resize_columns_8(const __grid_constant__ struct resize_columns_pass pass) {
    resize_columns_tile<uint8_t, false>(pass);
}

extern "C" __global__ void RESIZE
resize_columns_8_alpha(const __grid_constant__ struct resize_columns_pass pass) {
    resize_columns_tile<uint8_t, true>(pass);
}

extern "C" __global__ void RESIZE resize_columns_16(const __grid_constant__ struct resize_columns_pass pass) {
    resize_columns_tile<uint16_t, false>(pass);
}

extern "C" __global__ void RESIZE
resize_columns_16_alpha(const __grid_constant__ struct resize_columns_pass pass) {
    resize_columns_tile<uint16_t, true>(pass);
}

extern "C" __global__ void RESIZE resize_rows_1(const __grid_constant__ struct resize_rows_pass pass) {
    resize_rows_tile<1, KERNEL_RESIZE_ROWS_1>(pass);
}

extern "C" __global__ void RESIZE resize_rows_2(const __grid_constant__ struct resize_rows_pass pass) {
    resize_rows_tile<2, KERNEL_RESIZE_ROWS>(pass);
}

extern "C" __global__ void RESIZE resize_rows_3(const __grid_constant__ struct resize_rows_pass pass) {
    resize_rows_tile<3, KERNEL_RESIZE_ROWS>(pass);
}

extern "C" __global__ void RESIZE resize_rows_4(const __grid_constant__ struct resize_rows_pass pass) {
    resize_rows_tile<4, KERNEL_RESIZE_ROWS>(pass);
}

extern "C" __global__ void RESIZE resize_rows_long(const __grid_constant__ struct resize_rows_pass pass) {
    resize_long_pixel(pass);
}
