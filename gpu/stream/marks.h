/* SPDX-License-Identifier: MIT
 * What a stream's kernels tell the host about a job's progress, in pinned memory. C and CUDA C++ read it. */
#ifndef BLURD_GPU_STREAM_MARKS_H
#define BLURD_GPU_STREAM_MARKS_H

#include "gpu/cuda/kernels.h"

/* The moments of a JPEG's job at which a kernel notes the time. */
enum kernel_stamp { KERNEL_DECODING, KERNEL_DECODED, KERNEL_ENCODING, KERNEL_ENCODED, KERNEL_STAMPS };

struct kernel_marks {
    uint64_t ns[KERNEL_STAMPS]; /* the device's clock at these moments; 0: there was none */
    uint32_t fence;             /* number of steps that the device has finished */
    uint32_t reserved;
};
KERNEL_SIZE_IS(kernel_marks, 40);

#endif
