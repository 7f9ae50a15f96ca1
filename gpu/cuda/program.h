/* SPDX-License-Identifier: MIT
 * The kernels as machine code: embedded CUBINs for the common architectures, else the
 * embedded PTX, else NVRTC at run time with a cache on disk. */
#ifndef BLURD_GPU_CUDA_PROGRAM_H
#define BLURD_GPU_CUDA_PROGRAM_H

#include <stdint.h>

#include "gpu/cuda/driver.h"

enum kernel {
#define KERNEL(name) KERNEL_##name,
#include "gpu/cuda/kernels.def"
#undef KERNEL
    KERNEL_COUNT
};

enum module_format { MODULE_AUTO, MODULE_CUBIN, MODULE_PTX, MODULE_NVRTC };

struct program_options {
    enum module_format format; /* MODULE_AUTO: the first that works, in this order */
    const char *cache_folder;  /* for what NVRTC makes; "" or NULL: none */
    const char *source; /* CUDA C that NVRTC compiles; NULL: the embedded kernels. Tests take a short one */
};

struct program {
    CUmodule module;
    CUfunction kernel[KERNEL_COUNT];
    char how[48];                /* "cubin sm_90", "ptx", "nvrtc", "nvrtc (cached)": for the log */
    int64_t compile_ns, load_ns; /* what NVRTC and cuModuleLoadData took */
};

/* Loads the program for a device of compute capability major.minor into the current
 * context. A forced format fails where `auto` logs why and goes on to the next. Takes 0.1 ms
 * with machine code, seconds with NVRTC. *program is all zero after a failure. */
enum status program_load(struct program *program, const struct cuda *cuda, int major, int minor,
                         const struct program_options *options, struct error *err);

/* Accepts an all-zero struct. */
void program_unload(struct program *program, const struct cuda *cuda);

#endif
