/* SPDX-License-Identifier: MIT
 * A CUDA driver without a GPU, for tests: the functions of gpu/cuda/driver.def over host memory. Device
 * memory is the heap's, so that a sanitizer sees faults of a kernel; streams finish each call before it
 * returns. The real kernels run on the host (kernels.cpp), for any module that was loaded. FAKE_CUDA_DEVICES,
 * FAKE_CUDA_VERSION, FAKE_CUDA_ARCHITECTURE (90), FAKE_CUDA_MEMORY (bytes), FAKE_CUDA_MISSING (a function
 * that the driver lacks), FAKE_CUDA_POOLS (0: GPUs without memory pools) and FAKE_CUDA_OPENS (a file that it
 * opens for each launch) describe it. Kernels do nothing with FAKE_CUDA_WRONG=1; with FAKE_CUDA_IDLE=NAME
 * that kernel does nothing, with FAKE_CUDA_FAULTY=NAME it faults. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/faults.h"

enum { KERNEL_BASE = 1, PRIORITY = -5 /* the highest one */ };

static int device_count(void) {
    return fake_setting("FAKE_CUDA_DEVICES", 1);
}

/* ---- errors, devices, contexts ---- */

CUresult cuDriverGetVersion(int *version) {
    MAY_FAIL("cuDriverGetVersion");
    *version = fake_setting("FAKE_CUDA_VERSION", 13000);
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) {
    (void)flags;
    MAY_FAIL("cuInit");
    return device_count() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    static _Thread_local char text[48];
    snprintf(text, sizeof text, "CUDA_ERROR_FAKE_%d", (int)error);
    *name = text;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **string) {
    (void)error;
    *string = "made for a test";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    MAY_FAIL("cuDeviceGetCount");
    *count = device_count();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    MAY_FAIL("cuDeviceGet");
    *device = ordinal;
    return ordinal >= 0 && ordinal < device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    MAY_FAIL("cuDeviceGetName");
    snprintf(name, (size_t)length, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    MAY_FAIL("cuDeviceGetAttribute");
    int architecture = fake_setting("FAKE_CUDA_ARCHITECTURE", 90);
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = architecture / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = architecture % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 4;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        *value = fake_setting("FAKE_CUDA_POOLS", 1);
        break;
    default:
        *value = 1;
    }
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    MAY_FAIL("cuDevicePrimaryCtxRetain");
    *context = (CUcontext)(uintptr_t)(device + 1);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    MAY_FAIL("cuDevicePrimaryCtxRelease");
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    (void)device, (void)flags;
    MAY_FAIL("cuDevicePrimaryCtxSetFlags");
    return CUDA_SUCCESS;
}

static _Thread_local CUcontext current;

CUresult cuCtxSetCurrent(CUcontext context) {
    MAY_FAIL("cuCtxSetCurrent");
    current = context;
    return CUDA_SUCCESS;
}

bool fake_has_context(void) {
    return current != NULL;
}

/* ---- kernels ---- */

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    MAY_FAIL("cuModuleLoadData");
    *module = (CUmodule)(uintptr_t)1;
    return current && image ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, CUjit_option *keys,
                            void **values) {
    (void)options, (void)keys, (void)values;
    MAY_FAIL("cuModuleLoadDataEx");
    return cuModuleLoadData(module, image);
}

CUresult cuModuleUnload(CUmodule module) {
    (void)module;
    MAY_FAIL("cuModuleUnload");
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    (void)module;
    MAY_FAIL("cuModuleGetFunction");
    int kernel = fake_kernel_find(name);
    *function = (CUfunction)(uintptr_t)(kernel + KERNEL_BASE);
    return kernel < 0 ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    (void)function, (void)attribute, (void)value;
    MAY_FAIL("cuFuncSetAttribute");
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
    MAY_FAIL("cuFuncGetParamInfo");
    *offset = 0;
    *size = fake_kernel_argument((int)(uintptr_t)function - KERNEL_BASE);
    return index == 0 && *size > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A driver that opens a file for each launch, and fails without it. */
static bool finds_file(void) {
    const char *path = getenv("FAKE_CUDA_OPENS");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return !path || fd >= 0;
}

/* Whether the variable names that kernel. */
static bool names(const char *variable, int kernel) {
    const char *name = getenv(variable);
    return name && fake_kernel_find(name) == kernel;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **parameters, void **extra) {
    (void)stream, (void)extra;
    MAY_FAIL("cuLaunchKernel");
    if (!finds_file()) {
        return CUDA_ERROR_UNKNOWN;
    }
    const unsigned grid[] = {grid_x, grid_y, grid_z};
    const unsigned block[] = {block_x, block_y, block_z};
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x * block_y * block_z == 0 ||
        block_x * block_y * block_z > 1024) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int kernel = (int)(uintptr_t)function - KERNEL_BASE;
    if (fake_setting("FAKE_CUDA_WRONG", 0) || names("FAKE_CUDA_IDLE", kernel)) {
        return CUDA_SUCCESS;
    }
    if (names("FAKE_CUDA_FAULTY", kernel)) {
        fault_poison(CUDA_ERROR_LAUNCH_FAILED);
        return CUDA_SUCCESS;
    }
    switch (fake_kernel_run(kernel, grid, block, shared, parameters)) {
    case FAKE_RAN:
        break;
    case FAKE_NOT_FOUND:
        return CUDA_ERROR_INVALID_VALUE;
    case FAKE_FAULTED: /* shows at the next call, as launches do not wait */
        fault_poison(CUDA_ERROR_LAUNCH_FAILED);
        break;
    }
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
    for (unsigned i = 0; i < config->numAttrs; i++) {
        int priority = config->attrs[i].value.priority;
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PRIORITY || priority < PRIORITY || priority > 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                          config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream,
                          parameters, extra);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = PRIORITY;
    return CUDA_SUCCESS;
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    (void)flags;
    MAY_FAIL("cuStreamCreate");
    *stream = (CUstream)malloc(1);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy(CUstream stream) {
    MAY_FAIL("cuStreamDestroy");
    free(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    MAY_FAIL("cuStreamSynchronize");
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
    (void)stream;
    MAY_FAIL("cuStreamQuery");
    return CUDA_SUCCESS;
}

/* An event is the time at which it was recorded. */
CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    MAY_FAIL("cuEventCreate");
    *event = calloc(1, sizeof(struct timespec));
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy(CUevent event) {
    MAY_FAIL("cuEventDestroy");
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    MAY_FAIL("cuEventRecord");
    clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(void *)event);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    (void)event;
    MAY_FAIL("cuEventSynchronize");
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
    MAY_FAIL("cuEventElapsedTime");
    const struct timespec *a = (const struct timespec *)(void *)from;
    const struct timespec *b = (const struct timespec *)(void *)to;
    *ms = (float)(b->tv_sec - a->tv_sec) * 1e3f + (float)(b->tv_nsec - a->tv_nsec) / 1e6f;
    return CUDA_SUCCESS;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr data, cuuint32_t value, unsigned flags) {
    MAY_FAIL("cuStreamWriteValue32");
    (void)stream;
    (void)flags;
    *(volatile cuuint32_t *)(uintptr_t)data = value;
    return CUDA_SUCCESS;
}

/* ---- how functions are found ---- */

/* Only these two are visible, so that the function named by FAKE_CUDA_MISSING cannot be found. */
#define VISIBLE __attribute__((visibility("default")))
extern VISIBLE __typeof__(cuDriverGetVersion) cuDriverGetVersion;
extern VISIBLE __typeof__(cuGetProcAddress) cuGetProcAddress;

typedef void generic(void);

/* #name is not expanded, name is: to the version that cuda.h has. */
static const struct {
    const char *name;
    generic *function;
} functions[] = {
#define CUDA_REQUIRED(name) {#name, (generic *)name},
#define CUDA_OPTIONAL(name) {#name, (generic *)name},
#include "gpu/cuda/driver.def"
#undef CUDA_REQUIRED
#undef CUDA_OPTIONAL
};

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *found) {
    (void)version, (void)flags;
    MAY_FAIL("cuGetProcAddress");
    const char *missing = getenv("FAKE_CUDA_MISSING");
    *function = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, symbol) == 0 && !(missing && strcmp(missing, symbol) == 0)) {
            memcpy(function, &functions[i].function, sizeof *function);
        }
    }
    if (found) {
        *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
