/* SPDX-License-Identifier: MIT
 * Machine code, PTX and source of the kernels, which the build embeds in the binary. */
#ifndef BLURD_GPU_CUDA_EMBEDDED_H
#define BLURD_GPU_CUDA_EMBEDDED_H

#include "core/bytes.h"

/* Empty when the build had no NVRTC, or one that does not know the architecture. */
struct embedded {
    int architecture; /* 90 for compute capability 9.0 */
    const uint8_t *data, *end;
};

extern const struct embedded embedded_cubins[]; /* ascending by architecture; ends with NULL data */
extern const struct embedded embedded_ptx;      /* followed by a zero */
extern const char embedded_source[];            /* every .cu file of gpu/ and its includes, as one text */

static inline struct bytes embedded_image(const struct embedded *embedded) {
    return (struct bytes){embedded->data, (size_t)(embedded->end - embedded->data)};
}

#endif
