/* SPDX-License-Identifier: MIT */
#include "gpu/stream/task.h"

#include "gpu/cuda/kernels.h"

enum status gpu_task_launch(const struct gpu_task *task, const struct gpu_device *device, CUstream stream,
                            void *pass, struct error *err) {
    const struct gpu_blocks *blocks = &task->blocks;
    CUfunction kernel = device->program.kernel[task->kernel];
    void *parameters[] = {pass};
    if (!task->urgent || device->urgent == 0) {
        return CUDA_TRY(device->cuda, err, cuLaunchKernel, kernel, blocks->count, 1, 1, KERNEL_THREADS_X,
                        blocks->threads_y, 1, blocks->shared, stream, parameters, NULL);
    }
    CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = device->urgent};
    const CUlaunchConfig config = {.gridDimX = blocks->count,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = KERNEL_THREADS_X,
                                   .blockDimY = blocks->threads_y,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = blocks->shared,
                                   .hStream = stream,
                                   .attrs = &priority,
                                   .numAttrs = 1};
    return CUDA_TRY(device->cuda, err, cuLaunchKernelEx, &config, kernel, parameters, NULL);
}
