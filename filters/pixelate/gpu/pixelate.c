/* SPDX-License-Identifier: MIT
 * A block does several small tiles side by side; several blocks do a large one. */
#include "gpu/filter.h"

#include "gpu/stream/launch.h"

enum {
    SMALL_HEIGHT = 128, /* of a tile that fits one block */
    PART_HEIGHT = 32,   /* of a block's part of a larger tile */
};

/* Returns the size of equal parts of a side, at most `largest`. */
static int32_t part_of(int32_t side, int32_t largest) {
    int32_t parts = (side + largest - 1) / largest;
    return (side + parts - 1) / parts;
}

static bool fits_block(const struct image *source, const struct pixelate_plane *plane) {
    return plane->block_x * source->plane[0].channels <= KERNEL_COLUMNS && plane->block_y <= SMALL_HEIGHT;
}

/* Fills in grids and tiles. Returns whether one block can do a tile. */
static bool place_tiles(struct pixelate_pass *pass, const struct pixelate_plan *plan,
                        const struct image *source, const struct image *target) {
    bool small = true;
    for (int32_t p = 0; p < pass->planes; p++) {
        struct pixelate_plane *plane = &pass->plane[p];
        plane->source = gpu_launch_grid(&source->plane[p], EDGE_CLAMP);
        plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
        plane->block_x = (int32_t)(plan->block >> source->plane[p].shift_x);
        plane->block_y = (int32_t)(plan->block >> source->plane[p].shift_y);
        plane->across = (plane->source.width + plane->block_x - 1) / plane->block_x;
        small = small && fits_block(source, plane);
    }
    return small;
}

/* Returns the number of cells along an axis, with `parts` in each span of `span` samples. */
static int32_t cells(int32_t size, int32_t span, int32_t parts) {
    return (size + span - 1) / span * parts;
}

static void place_cells(struct pixelate_plane *plane, int32_t width, int32_t height, unsigned *blocks) {
    plane->span_x = width < plane->block_x ? plane->block_x : width;
    plane->span_y = plane->block_y;
    plane->parts_x = (plane->span_x + width - 1) / width;
    plane->parts_y = (plane->span_y + height - 1) / height;
    plane->tiles = (struct kernel_tiles){
        .first_tile = (int32_t)*blocks,
        .tiles_x = cells(plane->source.width, plane->span_x, plane->parts_x),
        .width = width,
        .height = height,
    };
    *blocks += (unsigned)(plane->tiles.tiles_x * cells(plane->source.height, plane->span_y, plane->parts_y));
}

static struct gpu_blocks gpu_blocks(unsigned count) {
    return (struct gpu_blocks){count, KERNEL_THREADS_Y, 3 * KERNEL_COLUMNS * sizeof(uint32_t)};
}

static enum status run_small(struct gpu_stream *stream, struct pixelate_pass *pass, struct error *err) {
    unsigned blocks = 0;
    for (int32_t p = 0; p < pass->planes; p++) {
        struct pixelate_plane *plane = &pass->plane[p];
        int32_t tiles = KERNEL_COLUMNS / pass->channels / plane->block_x;
        place_cells(plane, tiles * plane->block_x, plane->block_y, &blocks);
    }
    return gpu_launch(stream, KERNEL_pixelate_small, pass, gpu_blocks(blocks), err);
}

/* Takes zeroed scratch memory for the sums of all tiles. */
static enum status place_sums(struct gpu_stream *stream, struct pixelate_pass *pass, struct error *err) {
    size_t size = 0;
    CUdeviceptr sums = 0;
    for (int32_t p = 0; p < pass->planes; p++) {
        struct pixelate_plane *plane = &pass->plane[p];
        int32_t down = (plane->source.height + plane->block_y - 1) / plane->block_y;
        plane->sums = size;
        size += (size_t)plane->across * (size_t)down * (size_t)pass->channels * sizeof(uint64_t);
    }
    enum status status = gpu_stream_scratch(stream, size, &sums, err);
    for (int32_t p = 0; p < pass->planes; p++) {
        pass->plane[p].sums += sums;
    }
    return status == ST_OK ? gpu_stream_fill(stream, sums, 0, size, err) : status;
}

static enum status run_large(struct gpu_stream *stream, struct pixelate_pass *pass, struct error *err) {
    unsigned blocks = 0;
    for (int32_t p = 0; p < pass->planes; p++) {
        struct pixelate_plane *plane = &pass->plane[p];
        place_cells(plane, part_of(plane->block_x, KERNEL_COLUMNS / pass->channels),
                    part_of(plane->block_y, PART_HEIGHT), &blocks);
    }
    enum status status = place_sums(stream, pass, err);
    if (status == ST_OK) {
        status = gpu_launch(stream, KERNEL_pixelate_sums, pass, gpu_blocks(blocks), err);
    }
    return status == ST_OK ? gpu_launch(stream, KERNEL_pixelate_means, pass, gpu_blocks(blocks), err)
                           : status;
}

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct pixelate_plan *plan = planned;
    (void)mask;
    struct pixelate_pass pass = {
        .planes = source->plane_count,
        .channels = source->plane[0].channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
    };
    return place_tiles(&pass, plan, source, target) ? run_small(stream, &pass, err)
                                                    : run_large(stream, &pass, err);
}

const struct gpu_filter gpu_filter_pixelate = {.run = run};
