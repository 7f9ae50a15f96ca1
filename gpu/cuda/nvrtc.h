/* SPDX-License-Identifier: MIT
 * NVRTC, the CUDA C++ compiler library, opened at run time. The build compiles the embedded code with it, the
 * engine the code for GPUs unknown to the build.
 *
 * Its types are declared here, since a toolkit may lack nvrtc.h. These few functions have not changed
 * since CUDA 11.1. */
#ifndef BLURD_GPU_CUDA_NVRTC_H
#define BLURD_GPU_CUDA_NVRTC_H

#include <stdbool.h>

#include "core/bytes.h"

typedef int nvrtcResult; /* an enum there; 0 is success */
typedef struct nvrtc_program *nvrtcProgram;

struct nvrtc {
    void *library; /* never closed */
    int major, minor;
#define NVRTC(name, ...) nvrtcResult (*name)(__VA_ARGS__);
#include "gpu/cuda/nvrtc.def"
#undef NVRTC
    const char *(*nvrtcGetErrorString)(nvrtcResult);
};

/* Machine code of one architecture, or PTX, which drivers translate for that and all newer ones. */
struct nvrtc_target {
    int architecture; /* 90 for compute capability 9.0 */
    bool ptx;
};

enum { NVRTC_DESCRIPTION_MAX = 160, NVRTC_IMAGE_MAX = 16 << 20 };

/* Opens `library`. NULL: the newest libnvrtc.so.N that the loader finds, N at most `newest`, since a driver
 * rejects the code of a later CUDA. ST_DEVICE without one. */
enum status nvrtc_open(struct nvrtc *nvrtc, const char *library, int newest, struct error *err);

/* Chooses the best code for `architecture`: its machine code, else PTX of the nearest older architecture. */
enum status nvrtc_choose(const struct nvrtc *nvrtc, int architecture, struct nvrtc_target *target,
                         struct error *err);

/* Describes the versions and options that, beside the source, determine the output. */
void nvrtc_describe(const struct nvrtc *nvrtc, struct nvrtc_target target, char text[NVRTC_DESCRIPTION_MAX]);

/* Compiles `source`, which may include <stdint.h>, <stddef.h> and <stdbool.h> only, and appends CUBIN or PTX
 * (without its final zero) to `image`. A failure reports the compiler's first error. Takes seconds. */
enum status nvrtc_compile(const struct nvrtc *nvrtc, const char *source, struct nvrtc_target target,
                          struct buf *image, struct error *err);

#endif
