/* SPDX-License-Identifier: MIT
 * Small windows, and samples of 16 bits, are searched bit by bit (filters/morphology/gpu/morphology.cuh). For
 * all others the time does not depend on the radius (filters/median/gpu/median.cuh). */
#include "core/tuned.h"
#include "gpu/filter.h"

#include "gpu/stream/launch.h"

enum { LEAST_ROWS = 4 };

static void set_plane(struct median_pass *pass, int p, const struct median_plan *plan,
                      const struct image *source, const struct image *target) {
    struct median_plane *plane = &pass->plane[p];
    plane->source = gpu_launch_grid(&source->plane[p], (enum edge)plan->edge);
    plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
    plane->radius_x = plan->radius >> source->plane[p].shift_x;
    plane->radius_y = plan->radius >> source->plane[p].shift_y;
    plane->border = p > 0 ? 128 : 0;
}

/* Samples of a tile with its margins, and their weights. */
static unsigned tile_bytes(const struct median_plan *plan, bool alpha) {
    unsigned side = KERNEL_MEDIAN_TILE + 2u * plan->radius;
    return side * side * (unsigned)sizeof(uint16_t) * (alpha ? 2 : 1);
}

static enum status search(struct gpu_stream *stream, const struct median_plan *plan, struct median_pass *pass,
                          struct error *err) {
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, tile_bytes(plan, pass->alpha)};
    for (int32_t p = 0; p < pass->planes; p++) {
        struct median_plane *plane = &pass->plane[p];
        plane->tiles =
            gpu_launch_tiles(&plane->target, KERNEL_MEDIAN_TILE, KERNEL_MEDIAN_TILE, 0, &blocks.count);
    }
    return gpu_launch(stream, KERNEL_median_tiles, pass, blocks, err);
}

/* As the kernel lays it out. */
static unsigned strip_bytes(const struct median_plane *plane, unsigned warps, bool alpha) {
    unsigned sums = alpha ? KERNEL_MEDIAN_WEIGHTED_SUMS : KERNEL_MEDIAN_SUMS;
    unsigned samples = KERNEL_MEDIAN_COLUMNS * (unsigned)(plane->tiles.height + 2 * plane->radius_y);
    unsigned found = (unsigned)(plane->tiles.width * plane->tiles.height);
    return 16 * (KERNEL_MEDIAN_STEPS + warps * sums) + samples * (alpha ? 2 : 1) + found * (alpha ? 4 : 2);
}

/* Cuts all planes into tiles for warps of that many rows. */
static struct gpu_blocks cut(struct median_pass *pass, int32_t rows) {
    struct gpu_blocks blocks = {.threads_y =
                                    pass->alpha ? KERNEL_MEDIAN_WEIGHTED_WARPS : KERNEL_MEDIAN_WARPS};
    for (int32_t p = 0; p < pass->planes; p++) {
        struct median_plane *plane = &pass->plane[p];
        unsigned tiles = 0;
        plane->tiles = gpu_launch_tiles(&plane->target, KERNEL_MEDIAN_COLUMNS - 2 * plane->radius_x,
                                        rows * (int32_t)blocks.threads_y, 0, &tiles);
        plane->tiles.first_tile = (int32_t)blocks.count;
        blocks.count += tiles * (pass->alpha ? 1 : (unsigned)pass->channels);
        unsigned shared = strip_bytes(plane, blocks.threads_y, pass->alpha);
        blocks.shared = shared > blocks.shared ? shared : blocks.shared;
    }
    return blocks;
}

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct median_plan *plan = planned;
    (void)mask;
    struct median_pass pass = {
        .planes = source->plane_count,
        .channels = source->plane[0].channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
    };
    for (int p = 0; p < pass.planes; p++) {
        set_plane(&pass, p, plan, source, target);
    }
    if (pass.depth != 8 || plan->radius <= TUNED_GPU_MEDIAN_SEARCHED) {
        return search(stream, plan, &pass, err);
    }
    int32_t rows = KERNEL_MEDIAN_ROWS;
    struct gpu_blocks blocks = cut(&pass, rows);
    while (blocks.count < TUNED_GPU_MEDIAN_BLOCKS && rows > LEAST_ROWS) {
        rows /= 2;
        blocks = cut(&pass, rows);
    }
    return gpu_launch(stream, pass.alpha ? KERNEL_median_strips_alpha : KERNEL_median_strips, &pass, blocks,
                      err);
}

/* A window of 16 bits is searched. */
static double slowness(const void *planned, const struct image_shape *source) {
    const struct median_plan *plan = planned;
    const double side = 2.0 * plan->radius + 1;
    return source->depth == 8 ? 1 : side * side;
}

const struct gpu_filter gpu_filter_median = {.run = run, .slowness = slowness};
