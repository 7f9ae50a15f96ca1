/* SPDX-License-Identifier: MIT
 * One GPU inside the engine process: its primary context and its program. */
#ifndef BLURD_GPU_CUDA_DEVICE_H
#define BLURD_GPU_CUDA_DEVICE_H

#include "gpu/cuda/driver.h"
#include "gpu/cuda/hang_detector.h"
#include "gpu/cuda/program.h"

struct gpu_network;

enum { GPU_MEMORY_PARTS = 4 }; /* streams may keep one of these parts of the memory */

struct gpu_device {
    const struct cuda *cuda;
    CUdevice device;
    CUcontext context; /* primary, with blocking synchronisation */
    struct program program;
    int index;                     /* the N of "cuda:N" */
    CUmemoryPool pool;             /* of buffers (gpu/stream/buffer.h); NULL: the device has none */
    size_t memory_share;           /* bytes its streams and readings together may keep between runs */
    _Atomic size_t memory_kept;    /* bytes of their buffers */
    _Atomic size_t memory_spare;   /* bytes of buffers that went back to the pool since it was last emptied */
    _Atomic unsigned trim_epoch;   /* how often the streams were told to free their buffers */
    struct hang_detector detector; /* of all runs on it */
    struct gpu_network *networks;  /* of the detectors (gpu/detect/detect.h); NULL: none */
    char name[64];
    int major, minor; /* compute capability */
    int processors;   /* multiprocessors */
    int urgent;       /* the highest priority of a launch, a negative number; 0: the driver has none */
};

/* Retains the primary context of GPU `index`, makes it current on this thread and loads the program.
 * Logs it when the device has no memory pool. ST_DEVICE with the call and the driver's error name. */
enum status gpu_device_open(struct gpu_device *device, const struct cuda *cuda, int index,
                            const struct program_options *options, struct error *err);

/* Makes the context current on the calling thread. */
enum status gpu_device_enter(const struct gpu_device *device, struct error *err);

/* Accepts an all-zero struct. Do not call it after a sticky error (cuda_is_sticky). */
void gpu_device_close(struct gpu_device *device);

#endif
