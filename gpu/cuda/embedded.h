/* SPDX-License-Identifier: MIT
 * Machine code, PTX and source of the kernels, which the build embeds in the binary. They are compressed
 * by xz to an eighth of their size, since a process uses one of them at most. */
#ifndef BLURD_GPU_CUDA_EMBEDDED_H
#define BLURD_GPU_CUDA_EMBEDDED_H

#include "core/bytes.h"

struct embedded {
    int architecture;          /* 90 for compute capability 9.0 */
    const uint8_t *data, *end; /* compressed */
};

extern const struct embedded embedded_cubins[]; /* ascending by architecture; ends with NULL data */
extern const struct embedded embedded_ptx;
extern const struct embedded embedded_source; /* every .cu file of gpu/ and its includes, as one text */

/* False when the build had no NVRTC, or one that does not know the architecture. */
static inline bool embedded_exists(const struct embedded *embedded) {
    return embedded->end > embedded->data;
}

/* Decompresses code that exists, or the source, into *image, an all-zero struct that the caller ends with
 * buf_finish. A zero follows it and counts. ST_BUSY without memory. */
enum status embedded_image(const struct embedded *embedded, struct buf *image, struct error *err);

#endif
