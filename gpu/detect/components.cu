/* SPDX-License-Identifier: MIT
 * The kernels of gpu/detect/components.c. */
#include "gpu/detect/components.cuh"

#define COMPONENTS __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void COMPONENTS
component_label_all(const __grid_constant__ struct components_pass pass) {
    component_label(pass);
}

extern "C" __global__ void COMPONENTS
component_join_all(const __grid_constant__ struct components_pass pass) {
    component_join(pass);
}

extern "C" __global__ void COMPONENTS
component_number_all(const __grid_constant__ struct components_pass pass) {
    component_number(pass);
}

extern "C" __global__ void COMPONENTS
component_measure_all(const __grid_constant__ struct components_pass pass) {
    component_measure(pass);
}

extern "C" __global__ void COMPONENTS
component_gather_all(const __grid_constant__ struct components_pass pass) {
    component_gather(pass);
}
