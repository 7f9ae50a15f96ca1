/* SPDX-License-Identifier: MIT
 * A kernel with its blocks, and its launch. */
#ifndef BLURD_GPU_STREAM_TASK_H
#define BLURD_GPU_STREAM_TASK_H

#include <stdbool.h>

#include "gpu/cuda/device.h"

struct gpu_blocks {
    unsigned count;     /* of blocks */
    unsigned threads_y; /* rows of KERNEL_THREADS_X threads in each */
    unsigned shared;    /* bytes of shared memory of each, at most KERNEL_SHARED_MAX */
};

struct gpu_task {
    enum kernel kernel;
    struct gpu_blocks blocks;
    bool urgent; /* its blocks begin before waiting blocks of other streams */
};

/* Enqueues the kernel. It takes the struct at `pass` by value. ST_DEVICE with the driver's error. */
enum status gpu_task_launch(const struct gpu_task *task, const struct gpu_device *device, CUstream stream,
                            void *pass, struct error *err);

#endif
