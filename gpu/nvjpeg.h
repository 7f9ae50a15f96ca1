/* SPDX-License-Identifier: MIT
 * nvJPEG, NVIDIA's JPEG library, opened like the driver. Optional: without it, or on a GPU without hardware
 * decoders, JPEGs are decoded and encoded by the CPU. Inside the engine process only.
 *
 * Its types are declared here, as a toolkit may come without nvjpeg.h; the numbers are those of nvjpeg.h of
 * CUDA 12.0 to 13.3, where they are the same. */
#ifndef BLURD_GPU_NVJPEG_H
#define BLURD_GPU_NVJPEG_H

#include <stddef.h>

#include "gpu/driver.h"

typedef struct nvjpeg_handle *nvjpegHandle;
typedef struct nvjpeg_decoder *nvjpegDecoder;
typedef struct nvjpeg_state *nvjpegState;
typedef struct nvjpeg_pinned *nvjpegPinned;
typedef struct nvjpeg_memory *nvjpegMemory;
typedef struct nvjpeg_stream *nvjpegStream;
typedef struct nvjpeg_decode_params *nvjpegDecodeParams;
typedef struct nvjpeg_encoder *nvjpegEncoder;
typedef struct nvjpeg_encoder_params *nvjpegEncoderParams;

enum { NVJPEG_BACKEND_HARDWARE = 3, NVJPEG_OUTPUT_YUV = 1 };

enum nvjpeg_subsampling {
    NVJPEG_CSS_444 = 0,
    NVJPEG_CSS_422 = 1,
    NVJPEG_CSS_420 = 2,
    NVJPEG_CSS_440 = 3,
    NVJPEG_CSS_411 = 4,
    NVJPEG_CSS_GRAY = 6,
};

/* nvjpegStatus_t; those that a file can be guilty of. */
enum {
    NVJPEG_SUCCESS = 0,
    NVJPEG_BAD_JPEG = 3,
    NVJPEG_NOT_SUPPORTED = 4,
    NVJPEG_ALLOCATOR_FAILURE = 5,
    NVJPEG_ARCH_MISMATCH = 7,
    NVJPEG_IMPLEMENTATION_NOT_SUPPORTED = 9,
    NVJPEG_INCOMPLETE_BITSTREAM = 10,
};

struct nvjpeg_image { /* nvjpegImage_t: planes in device memory, pitches in bytes */
    unsigned char *channel[4];
    size_t pitch[4];
};

struct nvjpeg {
    void *library; /* never closed */
#define NVJPEG(name, ...) int (*name)(__VA_ARGS__);
#include "gpu/nvjpeg.def"
#undef NVJPEG
};

/* Opens `library` (NULL: libnvjpeg.so.N, N being the driver's major version of CUDA or one less).
 * ST_UNSUPPORTED without it or without one of its functions. */
enum status nvjpeg_open(struct nvjpeg *nvjpeg, const struct cuda *cuda, const char *library,
                        struct error *err);

/* ST_OK for success; ST_UNSUPPORTED for a file that nvJPEG does not take or finds broken, or a GPU that
 * cannot; ST_BUSY without memory; else ST_DEVICE. */
enum status nvjpeg_check(int result, const char *call, struct error *err);

/* Calls a function and checks it. */
#define NVJPEG_TRY(nvjpeg, err, function, ...) nvjpeg_check((nvjpeg)->function(__VA_ARGS__), #function, err)

#endif
