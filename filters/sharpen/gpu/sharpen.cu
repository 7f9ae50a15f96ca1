/* SPDX-License-Identifier: MIT
 * A blur in single precision whose last pass writes x + amount * (x - blurred). The last pass is near or
 * direct without reduction, else enlarge, as in filters/blur/gpu/blur.cu. filters/sharpen/gpu/sharpen.c
 * launches them. */
#include "filters/blur/gpu/blur_near.cuh"

/* `value` is blurred, and its colour is already divided by alpha. Alpha stays unchanged. */
struct unsharp_finish {
    const struct unsharp &unsharp;
    __device__ __forceinline__ float operator()(const struct sample_format &format, int y, int i, int channel,
                                                float value) const {
        float sample = sample_at(unsharp.picture, y, i, format.depth);
        float difference = __fadd_rn(sample, -value);
        bool kept = (format.alpha && channel == format.channels - 1) || fabsf(difference) < unsharp.threshold;
        return kept ? sample : __fadd_rn(sample, __fmul_rn(unsharp.amount, difference));
    }
};

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    sharpen_near(const __grid_constant__ struct sharpen_pass pass) {
    near_tile(pass.blur, unsharp_finish{pass.unsharp});
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    sharpen_direct(const __grid_constant__ struct sharpen_pass pass) {
    float_pass_tile<true, true>(pass.blur, unsharp_finish{pass.unsharp});
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    sharpen_enlarge(const __grid_constant__ struct sharpen_enlargement pass) {
    float_enlarge_tile(pass.blur, unsharp_finish{pass.unsharp});
}
