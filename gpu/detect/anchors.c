/* SPDX-License-Identifier: MIT */
#include "gpu/detect/anchors.h"

#include "core/numbers.h"
#include "detect/anchors.h"
#include "gpu/detect/anchors_kernels.h"
#include "gpu/stream/launch.h"

_Static_assert(ANCHOR_SCORE == 0 && ANCHOR_NUMBER == 1 && ANCHOR_PLACE == 2 &&
                   ANCHOR_SUMS == ANCHOR_PLACE + (int)KERNEL_ANCHOR_PLACE,
               "the kernel writes the sums in this order");

enum status gpu_anchors_find(struct gpu_stream *stream, const struct gpu_anchors *anchors,
                             struct error *err) {
    const int32_t each = anchors->network->anchors[anchors->output];
    struct anchors_pass pass = {
        .cells = anchors->cells,
        .candidates = anchors->candidates,
        .width = anchors->width,
        .anchors = each,
        .bytes = network_cell_bytes(anchors->network, anchors->output),
        .total = anchors->width * anchors->height * each,
        .first = anchors_first(anchors->network, anchors->output),
        .least = anchors->least,
        .most = CANDIDATES_MAX,
    };
    const unsigned count = divide_up((uint32_t)pass.total, KERNEL_THREADS_X * KERNEL_THREADS_Y);
    return gpu_launch(stream, KERNEL_anchors_find_all, &pass, (struct gpu_blocks){count, KERNEL_THREADS_Y, 0},
                      err);
}
