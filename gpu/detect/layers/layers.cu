/* SPDX-License-Identifier: MIT
 * The kernels of gpu/detect/layers/layers.c. */
#include "gpu/detect/layers/layer_depth.cuh"
#include "gpu/detect/layers/layer_picture.cuh"
#include "gpu/detect/layers/layer_product.cuh"
#include "gpu/detect/layers/layer_words.cuh"

#define LAYER __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

#define LAYER_PRODUCT(name, sixteens, window, narrow)                                                        \
    extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_LAYER_WARPS)                       \
        layer_##name(const __grid_constant__ struct layer_product_pass pass) {                               \
        layer_product<sixteens, window, narrow>(pass);                                                       \
    }
KERNEL_LAYER_PRODUCTS(LAYER_PRODUCT)
#undef LAYER_PRODUCT

#define LAYER_DEPTH(size, stride)                                                                            \
    extern "C" __global__ void LAYER layer_depth_##size##_##stride(                                          \
        const __grid_constant__ struct layer_depth_pass pass) {                                              \
        layer_depth<size, stride>(pass);                                                                     \
    }
KERNEL_LAYER_DEPTHS(LAYER_DEPTH)
#undef LAYER_DEPTH

extern "C" __global__ void LAYER layer_pool(const __grid_constant__ struct layer_word_pass pass) {
    layer_pool_words(pass);
}

extern "C" __global__ void LAYER layer_concat(const __grid_constant__ struct layer_word_pass pass) {
    layer_concat_words(pass);
}

extern "C" __global__ void LAYER layer_squeeze(const __grid_constant__ struct layer_word_pass pass) {
    layer_squeeze_words(pass);
}

extern "C" __global__ void LAYER layer_gate(const __grid_constant__ struct layer_gate_pass pass) {
    layer_make_factors(pass);
}

extern "C" __global__ void LAYER layer_excite(const __grid_constant__ struct layer_word_pass pass) {
    layer_excite_words(pass);
}

extern "C" __global__ void LAYER layer_picture(const __grid_constant__ struct layer_picture_pass pass) {
    layer_read_picture(pass);
}
