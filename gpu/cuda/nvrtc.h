/* SPDX-License-Identifier: MIT
 * NVRTC, the compiler of CUDA C++ as a library, opened like the driver. The build uses it
 * for the code that the binary carries, the engine for GPUs that the build did not know.
 *
 * Its types are declared here: a toolkit may have the library without nvrtc.h, these
 * few functions have not changed since CUDA 11.1, and a build for GPUs must not hang on it. */
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

/* The kind of code: machine code of one architecture, or PTX, which drivers translate for that architecture
 * and all newer ones. */
struct nvrtc_target {
    int architecture; /* 90 for compute capability 9.0 */
    bool ptx;
};

enum { NVRTC_DESCRIPTION_MAX = 160, NVRTC_IMAGE_MAX = 16 << 20 };

/* Opens `library`; NULL: the newest libnvrtc.so.N that the loader finds, N at most
 * `newest`, since a driver does not take the code of a later CUDA. ST_DEVICE without one. */
enum status nvrtc_open(struct nvrtc *nvrtc, const char *library, int newest, struct error *err);

/* The best it can make for GPUs of `architecture`: their own machine code, else PTX of the
 * nearest older architecture, since every GPU runs the PTX of older ones. */
enum status nvrtc_choose(const struct nvrtc *nvrtc, int architecture, struct nvrtc_target *target,
                         struct error *err);

/* The versions and options that determine the outcome beside the source. */
void nvrtc_describe(const struct nvrtc *nvrtc, struct nvrtc_target target, char text[NVRTC_DESCRIPTION_MAX]);

/* Compiles `source`, which includes nothing but <stdint.h>, <stddef.h> and <stdbool.h>, and
 * appends CUBIN or PTX (without its final zero) to `image`. On failure the sentence has
 * the first error that the compiler found. Takes seconds. */
enum status nvrtc_compile(const struct nvrtc *nvrtc, const char *source, struct nvrtc_target target,
                          struct buf *image, struct error *err);

#endif
