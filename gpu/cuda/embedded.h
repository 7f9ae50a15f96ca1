/* SPDX-License-Identifier: MIT
 * The kernels' machine code, PTX and source, which the build puts into the binary. */
#ifndef BLURD_GPU_CUDA_EMBEDDED_H
#define BLURD_GPU_CUDA_EMBEDDED_H

#include "core/bytes.h"

/* Empty where the build had no NVRTC, or one that does not know the architecture. */
struct embedded {
    int architecture; /* 90 for compute capability 9.0 */
    const uint8_t *data, *end;
};

extern const struct embedded embedded_cubins[]; /* ascending by architecture; data is NULL after the last */
extern const struct embedded embedded_ptx;      /* with a zero at `end` */
extern const char embedded_source[]; /* every .cu file of gpu/ with what it includes, as one text */

static inline struct bytes embedded_image(const struct embedded *embedded) {
    return (struct bytes){embedded->data, (size_t)(embedded->end - embedded->data)};
}

#endif
