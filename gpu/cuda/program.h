/* SPDX-License-Identifier: MIT
 * The kernels as machine code: an embedded CUBIN, else the embedded PTX, else NVRTC at run time with a
 * cache on disk. */
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
    const char *cache_folder;  /* for NVRTC's output; "" or NULL: no cache */
    const char *source;        /* CUDA C for NVRTC; NULL: the embedded kernels. Tests use a short one */
};

struct program {
    CUmodule module;
    CUfunction kernel[KERNEL_COUNT];
    size_t argument[KERNEL_COUNT]; /* bytes of each kernel's argument; 0: the driver does not tell */
    char how[48];                  /* for the log: "cubin sm_90", "ptx", "nvrtc", "nvrtc (cached)" */
    int64_t compile_ns, load_ns;   /* times of NVRTC and cuModuleLoadData */
};

/* Loads the program for a device of compute capability major.minor into the current context. A forced format
 * that does not work is a failure; MODULE_AUTO logs the cause and tries the next one. Takes 0.1 ms with
 * machine code, seconds with NVRTC. *program is all zero after a failure. */
enum status program_load(struct program *program, const struct cuda *cuda, int major, int minor,
                         const struct program_options *options, struct error *err);

/* Accepts an all-zero struct. */
void program_unload(struct program *program, const struct cuda *cuda);

#endif
