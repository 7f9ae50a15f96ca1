/* SPDX-License-Identifier: MIT */
#include "gpu/detect/components.h"

#include <stddef.h>

#include "core/bytes.h"
#include "core/numbers.h"
#include "gpu/detect/components_kernels.h"
#include "gpu/stream/launch.h"

enum {
    THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y,
    ALIGNMENT = 256,
    GATHER_BLOCKS = 64, /* each looks at several parts */
};

_Static_assert(COMPONENT_PEAK == 0 && COMPONENT_RIGHT == 1 && COMPONENT_BOTTOM == 2 &&
                   COMPONENT_PIXELS == 3 && COMPONENT_MOMENTS == 4 && COMPONENT_SUMS == 14 &&
                   offsetof(struct moments, xx) == 16 && offsetof(struct moments, yy) == 32,
               "kernels write the sums in this order");

/* Where the labels end, and the parts. */
static size_t labels_bytes(size_t pixels) {
    return bytes_align_up(pixels * sizeof(uint32_t), ALIGNMENT);
}

/* Components are apart by a pixel in each direction. */
static size_t parts_bytes(int32_t width, int32_t height) {
    const size_t most = (size_t)(width / 2 + 1) * (size_t)(height / 2 + 1);
    return bytes_align_up(most * sizeof(struct component_part), ALIGNMENT);
}

size_t gpu_components_bytes(int32_t width, int32_t height) {
    return labels_bytes((size_t)width * (size_t)height) + parts_bytes(width, height) + ALIGNMENT;
}

enum status gpu_components_find(struct gpu_stream *stream, const struct gpu_components *components,
                                struct components_bounds bounds, struct error *err) {
    static const enum kernel kernels[] = {KERNEL_component_label_all, KERNEL_component_join_all,
                                          KERNEL_component_number_all, KERNEL_component_measure_all,
                                          KERNEL_component_gather_all};
    const size_t pixels = (size_t)components->width * (size_t)components->height;
    struct components_pass pass = {
        .map = components->map,
        .labels = components->memory,
        .parts = components->memory + labels_bytes(pixels),
        .count =
            components->memory + labels_bytes(pixels) + parts_bytes(components->width, components->height),
        .candidates = components->candidates,
        .width = components->width,
        .height = components->height,
        .pixel = bounds.pixel,
        .peak = bounds.peak,
        .mark = bounds.mark << COMPONENT_MARK_SHIFT,
        .most = CANDIDATES_MAX,
    };
    enum status status = ST_OK;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels && status == ST_OK; i++) {
        const bool last = kernels[i] == KERNEL_component_gather_all;
        const unsigned count = last ? GATHER_BLOCKS : divide_up((uint32_t)pixels, THREADS);
        status = gpu_launch(stream, kernels[i], &pass, (struct gpu_blocks){count, KERNEL_THREADS_Y, 0}, err);
    }
    return status;
}
