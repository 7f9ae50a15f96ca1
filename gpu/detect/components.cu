/* SPDX-License-Identifier: MIT
 * The kernels of gpu/detect/components.c. */
#include "gpu/detect/components.cuh"

#define COMPONENTS(name)                                                                                     \
    extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)                         \
        component_##name##_all(const __grid_constant__ struct components_pass pass) {                        \
        component_##name(pass);                                                                              \
    }
COMPONENTS(label)
COMPONENTS(join)
COMPONENTS(number)
COMPONENTS(measure)
COMPONENTS(gather)
#undef COMPONENTS
