/* SPDX-License-Identifier: MIT
 * The kernels of gpu/detect/detect.c. */
#include "gpu/detect/block.cuh"
#include "gpu/detect/neck.cuh"
#include "gpu/detect/stem.cuh"

#define FACE(blocks) __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y, blocks)

extern "C" __global__ void FACE(4) face_stem(const __grid_constant__ struct face_stem_pass stem) {
    face_stem_tile(stem);
}

#define FACE_BLOCK(steps, stride, outputs, members, rows, width, least)                                      \
    extern "C" __global__ void FACE(least) face_block_##steps##_##stride##_##outputs##_##members(            \
        const __grid_constant__ struct face_block_pass block) {                                              \
        face_block_tile<face_form<steps, stride, outputs, members, rows, width>>(block);                     \
    }
KERNEL_FACE_BLOCKS(FACE_BLOCK)
#undef FACE_BLOCK

extern "C" __global__ void FACE(3) face_neck(const __grid_constant__ struct face_neck_pass neck) {
    face_neck_run(neck);
}

extern "C" __global__ void FACE(4) face_heads(const __grid_constant__ struct face_heads_pass heads) {
    face_heads_tile(heads);
}
