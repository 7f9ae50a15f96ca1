/* SPDX-License-Identifier: MIT
 * Small radii in integer arithmetic: one launch for the whole picture, on the matrix units where
 * the GPU has those that take whole numbers, else unrolled. */
#include "gpu/blur_work.h"

enum {
    TENSOR_ARCHITECTURE = 80, /* the first with products of 16 by 32 by 8 bytes */
    TENSOR_MARGIN = 8,
    TENSOR_SHARED = (KERNEL_TENSOR_HEIGHT + 2 * TENSOR_MARGIN) * KERNEL_TENSOR_STRIDE,
    DIRECT_THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y,
    DIRECT_SHARED = KERNEL_DIRECT_HEIGHT * KERNEL_DIRECT_COLUMNS * sizeof(uint16_t),
};

/* The largest radius of all planes; larger than any if one is reduced. */
static unsigned radius_of(const struct blur_work *work) {
    unsigned radius = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        const struct blur_path *path = &work->path[p];
        unsigned x = path->x.axis->radius;
        unsigned y = path->y.axis->radius;
        if (path->stages > 0) {
            return BLUR_RADIUS_MAX + 1;
        }
        radius = x > radius ? x : radius;
        radius = y > radius ? y : radius;
    }
    return radius;
}

static bool has_tensor(const struct blur_work *work) {
    const struct gpu_device *device = work->lane->device;
    return device->major * 10 + device->minor >= TENSOR_ARCHITECTURE;
}

bool blur_small_does(const struct blur_work *work) {
    return radius_of(work) <= (has_tensor(work) ? KERNEL_TENSOR_RADIUS : KERNEL_DIRECT_RADIUS);
}

/* The weight of the sample at `distance`; 0 beyond the radius. */
static unsigned weight_at(const struct blur_axis *axis, int distance) {
    int k = distance < 0 ? -distance : distance;
    return k <= axis->radius ? (unsigned)axis->weight[k] : 0;
}

/* ---- matrix units ---- */

/* Tap i of word n is at n + step * i - 23. */
static void fill_band(uint32_t *high, uint32_t *low, int words, int step, const struct blur_axis *axis) {
    for (int n = 0; n < words; n++) {
        for (int i = 0; i < 4; i++) {
            unsigned weight = 2 * weight_at(axis, n + step * i - 23);
            high[n] |= (weight >> 8) << 8 * i;
            low[n] |= (weight & 0xff) << 8 * i;
        }
    }
}

static enum status tensor_pass(struct blur_work *work, struct error *err) {
    struct tensor_pass pass = {.planes = (int32_t)work->planes};
    unsigned blocks = 0;
    for (unsigned p = 0; p < work->planes; p++) {
        struct tensor_plane *plane = &pass.plane[p];
        const struct blur_path *path = &work->path[p];
        plane->source = path->source;
        plane->target = path->target;
        plane->border = path->border;
        plane->tiles = blur_cut(&path->target, KERNEL_TENSOR_WIDTH, KERNEL_TENSOR_HEIGHT, 0, &blocks);
        fill_band(plane->y_high, plane->y_low, KERNEL_TENSOR_Y, 4, path->y.axis);
        fill_band(plane->x_high, plane->x_low, KERNEL_TENSOR_X, 1, path->x.axis);
    }
    enum kernel kernel = blur_whole_kernel(work, KERNEL_whole_tensor_1, KERNEL_whole_tensor_3);
    return blur_launch(work, kernel, KERNEL_TENSOR_THREADS, &pass, blocks, TENSOR_SHARED, err);
}

/* ---- unrolled ---- */

static void fill_direct_plane(struct direct_plane *plane, const struct blur_path *path, int radius,
                              unsigned *blocks) {
    plane->source = path->source;
    plane->target = path->target;
    plane->border = path->border;
    plane->tiles = blur_cut(&path->target, KERNEL_DIRECT_WIDTH / path->plane->channels, KERNEL_DIRECT_HEIGHT,
                            KERNEL_DIRECT_COLUMNS, blocks);
    for (int k = 0; k <= 2 * radius + 1; k++) {
        plane->pair_y[k] = weight_at(path->y.axis, k - 1 - radius) | weight_at(path->y.axis, k - radius)
                                                                         << 16;
    }
    for (int k = 0; k <= radius; k++) {
        plane->weight_x[k] = 4 * weight_at(path->x.axis, k);
    }
}

static enum status direct_pass(struct blur_work *work, struct error *err) {
    struct direct_pass pass = {.planes = (int32_t)work->planes};
    unsigned blocks = 0;
    bool smaller = radius_of(work) <= 3;
    for (unsigned p = 0; p < work->planes; p++) {
        fill_direct_plane(&pass.plane[p], &work->path[p], smaller ? 3 : KERNEL_DIRECT_RADIUS, &blocks);
    }
    enum kernel kernel = smaller ? blur_whole_kernel(work, KERNEL_whole_direct3_1, KERNEL_whole_direct3_3)
                                 : blur_whole_kernel(work, KERNEL_whole_direct6_1, KERNEL_whole_direct6_3);
    return blur_launch(work, kernel, DIRECT_THREADS, &pass, blocks, DIRECT_SHARED, err);
}

enum status blur_small(struct blur_work *work, struct error *err) {
    return has_tensor(work) ? tensor_pass(work, err) : direct_pass(work, err);
}
