/* SPDX-License-Identifier: MIT */
#include "filters/blur/gpu/blur_work.h"

enum {
    ENLARGE_WIDTH = 64, /* powers of two, so that phases repeat in each tile */
    ENLARGE_HEIGHT = 32,
};

static void fill_float_taps(struct float_taps *taps, const struct blur_pass_axis *axis) {
    taps->shift = (int32_t)axis->shift;
    taps->radius = (int32_t)axis->radius;
    for (unsigned k = 0; k <= axis->radius; k++) {
        taps->weight[k] = axis->weight_float ? axis->weight_float[k] : 1;
    }
}

static enum status launch(struct blur_work *work, enum kernel kernel, void *pass, unsigned blocks,
                          unsigned shared, struct error *err) {
    return gpu_launch(work->stream, kernel, pass, (struct gpu_blocks){blocks, KERNEL_THREADS_Y, shared}, err);
}

static bool is_near(const struct blur_pass_axis *x, const struct blur_pass_axis *y) {
    return x->radius <= KERNEL_NEAR_RADIUS && y->radius <= KERNEL_NEAR_RADIUS;
}

/* Cuts tiles of the near kernels; *rows is their height in shared memory. */
static struct kernel_tiles cut_near(const struct blur_path *path, const struct float_pass *pass,
                                    int32_t *rows, unsigned *blocks) {
    int32_t width = KERNEL_COLUMNS / path->plane->channels - 2 * pass->x.radius;
    int32_t height = (KERNEL_NEAR_ROWS - 2 * pass->y.radius) & ~3;
    height = height < KERNEL_NEAR_HEIGHT ? height : KERNEL_NEAR_HEIGHT;
    *rows = height + 2 * pass->y.radius;
    return gpu_launch_tiles(&path->target, width, height, KERNEL_COLUMNS, blocks);
}

static enum kernel pass_kernel(const struct blur_path *path, unsigned i, bool near, bool unsharp) {
    if (path->stages > 0) {
        return i == 0 ? KERNEL_float_reduce : KERNEL_float_values;
    }
    if (unsharp) {
        return near ? KERNEL_sharpen_near : KERNEL_sharpen_direct;
    }
    return near ? KERNEL_float_near : KERNEL_float_direct;
}

static enum status float_pass(struct blur_work *work, unsigned i, const struct unsharp *unsharp,
                              struct error *err) {
    const struct blur_path *path = &work->path[0];
    struct blur_pass_axis x = blur_pass_axis(&path->x, i, path->stages);
    struct blur_pass_axis y = blur_pass_axis(&path->y, i, path->stages);
    struct sharpen_pass pass = {.blur = {
                                    .source = *blur_pass_source(path, i),
                                    .target = *blur_pass_target(path, i),
                                    .channels = path->plane->channels,
                                    .depth = work->source->depth,
                                    .alpha = image_pixel_has_alpha(work->source->model),
                                }};
    bool near = path->stages == 0 && is_near(&x, &y);
    unsigned blocks = 0, table = near ? KERNEL_ROW_TABLE * sizeof(int32_t) : 0;
    int32_t rows;
    fill_float_taps(&pass.blur.x, &x);
    fill_float_taps(&pass.blur.y, &y);
    if (near) {
        pass.blur.tiles = cut_near(path, &pass.blur, &rows, &blocks);
    } else {
        pass.blur.tiles = blur_cut_pass(path, i, &x, &blocks);
        rows = pass.blur.tiles.height;
    }
    if (unsharp) {
        pass.unsharp = *unsharp; /* follows the blur's part, and only sharpening kernels take it */
    }
    return launch(work, pass_kernel(path, i, near, unsharp), &pass, blocks,
                  table + blur_tile_bytes(&pass.blur.tiles, rows, sizeof(float)), err);
}

static struct enlarge_plane enlarge_plane(const struct blur_path *path, size_t value, unsigned *blocks,
                                          unsigned *shared) {
    struct enlarge_plane plane = {
        .source = path->out[path->stages],
        .target = path->target,
        .levels_x = path->x.axis->levels,
        .levels_y = path->y.axis->levels,
    };
    plane.tiles = gpu_launch_tiles(&plane.target, ENLARGE_WIDTH, ENLARGE_HEIGHT,
                                   ENLARGE_WIDTH * path->plane->channels, blocks);
    int32_t rows = plane.levels_y ? (ENLARGE_HEIGHT >> plane.levels_y) + BLUR_TAPS_ENLARGE : ENLARGE_HEIGHT;
    size_t splines = (ENLARGE_WIDTH + ENLARGE_HEIGHT + 1) * BLUR_TAPS_ENLARGE * value;
    unsigned bytes = (unsigned)splines + blur_tile_bytes(&plane.tiles, rows, value);
    *shared = bytes > *shared ? bytes : *shared;
    return plane;
}

static enum status float_enlarge(struct blur_work *work, const struct unsharp *unsharp, struct error *err) {
    const struct blur_path *path = &work->path[0];
    unsigned blocks = 0, shared = 0;
    struct sharpen_enlargement pass = {.blur = {
                                           .plane = enlarge_plane(path, sizeof(float), &blocks, &shared),
                                           .channels = path->plane->channels,
                                           .depth = work->source->depth,
                                           .alpha = image_pixel_has_alpha(work->source->model),
                                       }};
    if (unsharp) {
        pass.unsharp = *unsharp;
        return launch(work, KERNEL_sharpen_enlarge, &pass, blocks, shared, err);
    }
    return launch(work, KERNEL_float_enlarge, &pass.blur, blocks, shared, err);
}

enum status blur_work_float(struct blur_work *work, const struct unsharp *unsharp, struct error *err) {
    unsigned stages = work->path[0].stages;
    enum status status = ST_OK;
    for (unsigned i = 0; i <= stages && status == ST_OK; i++) {
        status = float_pass(work, i, unsharp, err);
    }
    return status == ST_OK && stages > 0 ? float_enlarge(work, unsharp, err) : status;
}
