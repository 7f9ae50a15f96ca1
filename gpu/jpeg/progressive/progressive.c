/* SPDX-License-Identifier: MIT */
#include "gpu/jpeg/progressive.h"

#include <string.h>

#include "gpu/stream/launch.h"

enum {
    TABLES = KERNEL_PROGRESSIVE_WARPS * KERNEL_PROGRESSIVE_LOOK_BYTES,
    SHARED = sizeof(struct progressive_shared) + KERNEL_PROGRESSIVE_LOOK_BYTES + TABLES,
};
_Static_assert((int)SHARED <= KERNEL_SHARED_MAX, "a block of threads has so much shared memory");

enum status progressive_begin(struct gpu_stream *stream, const struct progressive_picture *pictures,
                              unsigned count, struct error *err) {
    const struct gpu_blocks blocks = {count, KERNEL_PROGRESSIVE_WARPS, SHARED};
    struct progressive_pass pass = {0};
    memcpy(pass.picture, pictures, count * sizeof *pictures);
    return gpu_launch(stream, KERNEL_read_scans, &pass, blocks, err);
}
