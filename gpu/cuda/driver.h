/* SPDX-License-Identifier: MIT
 * The CUDA driver, opened at run time as a struct of function pointers with the types of NVIDIA's header.
 * So one binary serves hosts with and without a GPU, and tests can replace the library. Only the engine
 * process opens it. */
#ifndef BLURD_GPU_CUDA_DRIVER_H
#define BLURD_GPU_CUDA_DRIVER_H

#include <stdbool.h>

#include <cuda.h>

#include "core/status.h"

/* Macros of cuda.h rename functions to their current versions (cuMemAlloc is cuMemAlloc_v2). Member and
 * symbol names follow them. */
struct cuda {
    void *library; /* never closed: threads of the driver may still run in it */
    int version;   /* cuDriverGetVersion: 13000 for 13.0 */
#define CUDA_REQUIRED(name) __typeof__(name) *name;
#define CUDA_OPTIONAL(name) __typeof__(name) *name; /* NULL where the driver lacks it */
#include "gpu/cuda/driver.def"
#undef CUDA_REQUIRED
#undef CUDA_OPTIONAL
};

/* Opens `library` (NULL: libcuda.so.1), fills *cuda and calls cuInit, after which the process must not fork.
 * ST_DEVICE when the library, a required function or a device is missing, the library is the toolkit's stub,
 * or the driver is older than CUDA 12.0; *cuda is then unusable. */
enum status cuda_open(struct cuda *cuda, const char *library, struct error *err);

/* ST_OK for CUDA_SUCCESS, ST_BUSY for CUDA_ERROR_OUT_OF_MEMORY, else ST_DEVICE. *err gets the call and the
 * driver's name, number and description of the error. */
enum status cuda_check(const struct cuda *cuda, CUresult result, const char *call, struct error *err);

/* Calls a driver function and checks it: CUDA_TRY(cuda, err, cuMemAlloc, &data, size). */
#define CUDA_TRY(cuda, err, function, ...) cuda_check(cuda, (cuda)->function(__VA_ARGS__), #function, err)

/* Whether only ending the process cures the error (illegal address, launch failure, ECC, any unknown error).
 * Nothing may be freed then. */
bool cuda_is_sticky(CUresult result);

#endif
