/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

#include <stddef.h>

#include "gpu/stream/launch.h"

_Static_assert(
    sizeof(struct stats) == sizeof(struct kernel_stats) &&
        offsetof(struct stats, channel) == offsetof(struct kernel_stats, channel) &&
        offsetof(struct stats_channel, squares) == offsetof(struct kernel_stats_channel, squares) &&
        offsetof(struct stats_channel, minimum) == offsetof(struct kernel_stats_channel, minimum) &&
        offsetof(struct stats_channel, maximum) == offsetof(struct kernel_stats_channel, maximum) &&
        offsetof(struct stats_channel, histogram) == offsetof(struct kernel_stats_channel, histogram),
    "the kernel writes what filters/stats/stats.h says");

/* Each tile adds to every bin it meets, so large pictures have larger tiles. */
enum { TILE_WIDTH = 256, TILE_HEIGHT = 32, TILES_MAX = 2048 };

/* Bytes of the histograms of all warps and of their total: struct stats_parts of filters/stats/gpu/stats.cuh.
 */
static unsigned shared_bytes(int32_t channels) {
    enum {
        PART_BYTES = 3 * sizeof(uint64_t),
        PARTS_BYTES = KERNEL_STATS_CHANNELS * PART_BYTES + sizeof(uint64_t)
    };
    unsigned histograms = (unsigned)channels * KERNEL_STATS_BINS * (unsigned)sizeof(uint32_t);
    return KERNEL_THREADS_Y * (histograms + (unsigned)PARTS_BYTES);
}

static struct kernel_tiles cut(const struct kernel_grid *source, unsigned *blocks) {
    int32_t height = TILE_HEIGHT;
    struct kernel_tiles tiles;
    do {
        *blocks = 0;
        tiles = gpu_launch_tiles(source, TILE_WIDTH, height, 0, blocks);
        height *= 2;
    } while (*blocks > TILES_MAX && height < source->height);
    return tiles;
}

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    (void)planned;
    struct stats_pass pass = {
        .source = gpu_launch_grid(&source->plane[0], EDGE_CLAMP),
        .stats = (uint64_t)(uintptr_t)target->plane[0].data,
        .channels = source->plane[0].channels,
        .depth = source->depth,
    };
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, shared_bytes(pass.channels)};
    if (mask) {
        pass.mask = gpu_launch_grid(&mask->plane[0], EDGE_CLAMP);
    }
    pass.tiles = cut(&pass.source, &blocks.count);
    enum status status = gpu_stream_fill(stream, pass.stats, 0, sizeof(struct stats), err);
    if (status == ST_OK) {
        status = gpu_launch(stream, KERNEL_stats, &pass, blocks, err);
    }
    return status == ST_OK ? gpu_launch(stream, KERNEL_stats_finish, &pass, (struct gpu_blocks){1, 1, 0}, err)
                           : status;
}

const struct gpu_filter gpu_filter_stats = {.run = run};
