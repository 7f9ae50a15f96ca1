/* SPDX-License-Identifier: MIT
 * One GPU inside the engine process: its primary context and its program. */
#ifndef BLURD_GPU_CUDA_DEVICE_H
#define BLURD_GPU_CUDA_DEVICE_H

#include "gpu/cuda/driver.h"
#include "gpu/cuda/program.h"

enum { GPU_MEMORY_PARTS = 4 }; /* of a GPU's memory, one of which streams may keep */

struct gpu_device {
    const struct cuda *cuda;
    CUdevice device;
    CUcontext context; /* the primary one, with blocking synchronisation */
    struct program program;
    int index;                   /* the N of "cuda:N" */
    size_t memory_share;         /* bytes that all its streams together may keep between runs */
    _Atomic size_t memory_kept;  /* bytes of their buffers now */
    _Atomic unsigned trim_epoch; /* how often all streams were told to free their buffers */
    char name[64];               /* as the driver says */
    int major, minor;            /* compute capability */
};

/* Retains the primary context of GPU `index`, makes it current on this thread and loads
 * the program. ST_DEVICE with the call and the driver's error name. */
enum status gpu_device_open(struct gpu_device *device, const struct cuda *cuda, int index,
                            const struct program_options *options, struct error *err);

/* Makes the context current on the calling thread; once per thread. */
enum status gpu_device_enter(const struct gpu_device *device, struct error *err);

/* Releases what was opened. Accepts an all-zero struct. Not after a sticky error: then
 * the process ends without freeing anything. */
void gpu_device_close(struct gpu_device *device);

#endif
