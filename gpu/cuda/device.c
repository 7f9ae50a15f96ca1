/* SPDX-License-Identifier: MIT */
#include "gpu/cuda/device.h"

#include <string.h>

#include "core/log.h"

/* Waiting threads sleep, since there are more lanes than cores. */
static enum status retain_context(struct gpu_device *device, struct error *err) {
    const struct cuda *cuda = device->cuda;
    enum status status =
        CUDA_TRY(cuda, err, cuDevicePrimaryCtxSetFlags, device->device, CU_CTX_SCHED_BLOCKING_SYNC);
    if (status != ST_OK) {
        return status;
    }
    CUcontext context = NULL;
    status = CUDA_TRY(cuda, err, cuDevicePrimaryCtxRetain, &context, device->device);
    if (status == ST_OK) {
        device->context = context;
    }
    return status;
}

/* Leaves memory to other programs. */
static enum status measure_memory(struct gpu_device *device, struct error *err) {
    size_t available, all;
    enum status status = CUDA_TRY(device->cuda, err, cuMemGetInfo, &available, &all);
    device->memory_share = status == ST_OK ? all / GPU_MEMORY_PARTS : 0;
    return status;
}

/* The pool of this process, which no other shares. An allocation never waits until another stream has done
 * with memory that it gave back. */
static enum status open_pool(struct gpu_device *device, struct error *err) {
    const struct cuda *cuda = device->cuda;
    cuuint64_t threshold = device->memory_share;
    int supported = 0, waits = 0;
    CUmemoryPool pool = NULL;
    enum status status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &supported,
                                  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device->device);
    if (status == ST_OK && !supported) {
        log_message(
            LOG_WARNING, "gpu",
            "cuda:%d has no memory pools: whenever a buffer grows, all its pictures wait for each other",
            device->index);
        return ST_OK;
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetDefaultMemPool, &pool, device->device);
    }
    if (status == ST_OK) {
        status =
            CUDA_TRY(cuda, err, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemPoolSetAttribute, pool,
                          CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &waits);
    }
    device->pool = status == ST_OK ? pool : NULL;
    return status;
}

static enum status describe(struct gpu_device *device, struct error *err) {
    const struct cuda *cuda = device->cuda;
    enum status status = CUDA_TRY(cuda, err, cuDeviceGet, &device->device, device->index);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetName, device->name, (int)sizeof device->name, device->device);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &device->major,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device->device);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &device->minor,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device->device);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &device->processors,
                          CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device->device);
    }
    device->name[sizeof device->name - 1] = '\0';
    return status;
}

/* Without priorities all kernels are equal. */
static void find_priority(struct gpu_device *device) {
    const struct cuda *cuda = device->cuda;
    int least = 0, greatest = 0;
    if (cuda->cuLaunchKernelEx && cuda->cuCtxGetStreamPriorityRange &&
        cuda->cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS) {
        device->urgent = greatest;
    }
}

enum status gpu_device_open(struct gpu_device *device, const struct cuda *cuda, int index,
                            const struct program_options *options, struct error *err) {
    *device = (struct gpu_device){.cuda = cuda, .index = index};
    enum status status = describe(device, err);
    if (status == ST_OK) {
        status = retain_context(device, err);
    }
    if (status == ST_OK) {
        status = gpu_device_enter(device, err);
    }
    if (status == ST_OK) {
        find_priority(device);
        status = measure_memory(device, err);
    }
    if (status == ST_OK) {
        status = open_pool(device, err);
    }
    if (status == ST_OK) {
        status = program_load(&device->program, cuda, device->major, device->minor, options, err);
    }
    if (status != ST_OK) {
        gpu_device_close(device);
    }
    return status;
}

enum status gpu_device_enter(const struct gpu_device *device, struct error *err) {
    return CUDA_TRY(device->cuda, err, cuCtxSetCurrent, device->context);
}

void gpu_device_close(struct gpu_device *device) {
    if (device->pool) {
        device->cuda->cuMemPoolTrimTo(device->pool, 0);
    }
    if (device->context) {
        program_unload(&device->program, device->cuda);
        device->cuda->cuDevicePrimaryCtxRelease(device->device);
    }
    memset(device, 0, sizeof *device);
}
