/* SPDX-License-Identifier: MIT
 * The kernels of gpu/detect/detect.c. The numbers are warps that share a tile of a chunk, and eighths of the
 * outputs at most. */
#include "gpu/detect/block.cuh"
#include "gpu/detect/neck.cuh"
#include "gpu/detect/stem.cuh"

#define FACE(blocks) __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y, blocks)

extern "C" __global__ void FACE(2) face_stem(const __grid_constant__ struct face_stem_pass stem) {
    face_stem_tile<2>(stem);
}

extern "C" __global__ void FACE(2) face_block_wide(const __grid_constant__ struct face_block_pass block) {
    face_block_tile<8, 2, 4, 2>(block);
}

extern "C" __global__ void FACE(2) face_block_8_4(const __grid_constant__ struct face_block_pass block) {
    face_block_tile<8, 1, 4, 2>(block);
}

extern "C" __global__ void FACE(1) face_block_4_12(const __grid_constant__ struct face_block_pass block) {
    face_block_tile<4, 1, 12, 2>(block);
}

extern "C" __global__ void FACE(1) face_block_2_20(const __grid_constant__ struct face_block_pass block) {
    face_block_tile<2, 1, 20, 2>(block);
}

extern "C" __global__ void FACE(1) face_neck(const __grid_constant__ struct face_neck_pass neck) {
    face_neck_run(neck);
}

extern "C" __global__ void FACE(1) face_heads(const __grid_constant__ struct face_heads_pass heads) {
    face_heads_tile(heads);
}
