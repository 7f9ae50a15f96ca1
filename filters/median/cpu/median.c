/* SPDX-License-Identifier: MIT
 * The picture is done in tiles, channel by channel. A tile with its margins stays in the cache. */
#include "core/numbers.h"
#include "cpu/filter.h"

#include <string.h>

#include "core/bytes.h"
#include "cpu/bands.h"
#include "cpu/extended.h"
#include "filters/median/cpu/median_channel.h"

enum {
    TILE_NARROW = 256,   /* sides of a tile, for samples of 8 bits */
    TILE_WIDE = 128,     /* and of 16 bits: places in it with margins have 8 bits for each axis */
    SAMPLES_OF_BLUR = 24 /* the median costs as much as the blur of so many */
};

_Static_assert(TILE_WIDE + 2 * MEDIAN_RADIUS_MAX <= 256, "places have 8 bits for each axis");

struct median {
    const struct cpu_context *context;
    const struct median_plan *plan;
    const struct image *source, *target;
    uint32_t side;
    size_t seat; /* bytes of working memory */
};

static uint32_t tiles_of(uint32_t size, uint32_t side) {
    return (size + side - 1) / side;
}

/* A tile as large as there are in the plane, without memory. */
static struct median_tile tile_in(const struct median *all, unsigned plane) {
    const struct plane *source = &all->source->plane[plane];
    return (struct median_tile){.radius_x = (uint32_t)all->plan->radius >> source->shift_x,
                                .radius_y = (uint32_t)all->plan->radius >> source->shift_y,
                                .width = min_u32(all->side, source->width),
                                .height = min_u32(all->side, source->height),
                                .bytes = all->source->depth / 8,
                                .channels = source->channels,
                                .alpha = image_pixel_has_alpha(all->source->model)};
}

static void split_narrow(uint8_t *restrict to, const uint8_t *restrict from, unsigned channels,
                         size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        to[x] = from[x * channels];
    }
}

static void split_wide(uint16_t *restrict to, const uint16_t *restrict from, unsigned channels,
                       size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        to[x] = from[x * channels];
    }
}

static void merge_narrow(uint8_t *restrict to, const uint8_t *restrict from, unsigned channels,
                         size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        to[x * channels] = from[x];
    }
}

static void merge_wide(uint16_t *restrict to, const uint16_t *restrict from, unsigned channels,
                       size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        to[x * channels] = from[x];
    }
}

/* Reads the samples of the tile whose first result is at (x, y), and its margins. */
static void load(const struct median_tile *tile, const struct extended *extended, uint32_t x, uint32_t y) {
    const ptrdiff_t left = (ptrdiff_t)x - tile->radius_x, top = (ptrdiff_t)y - tile->radius_y;
    const size_t pixels = tile->width + 2 * (size_t)tile->radius_x, row = tile->stride * tile->bytes;
    for (uint32_t i = 0; i < tile->height + 2 * tile->radius_y; i++) {
        const uint8_t *from = extended_row(extended, top + i, left, pixels, tile->line);
        for (unsigned c = 0; c < tile->channels; c++) {
            uint8_t *to = tile->sample[c] + i * row;
            if (tile->bytes == 1) {
                split_narrow(to, from + c, tile->channels, pixels);
            } else {
                split_wide((uint16_t *)(void *)to, (const uint16_t *)(const void *)from + c, tile->channels,
                           pixels);
            }
        }
    }
}

static void store(const struct median_tile *tile, const struct plane *target, uint32_t x, uint32_t y) {
    const size_t pixel = tile->channels * tile->bytes;
    for (uint32_t i = 0; i < tile->height; i++) {
        uint8_t *to = plane_row(target, y + i) + x * pixel;
        for (unsigned c = 0; c < tile->channels; c++) {
            const uint8_t *from = tile->result[c] + i * tile->stride * tile->bytes;
            if (tile->bytes == 1) {
                merge_narrow(to + c, from, tile->channels, tile->width);
            } else {
                merge_wide((uint16_t *)(void *)to + c, (const uint16_t *)(const void *)from, tile->channels,
                           tile->width);
            }
        }
    }
}

static uint16_t sample_at(const struct median_tile *tile, const uint8_t *plane, size_t at) {
    return tile->bytes == 1 ? plane[at] : ((const uint16_t *)(const void *)plane)[at];
}

/* Fills the weights from alpha. Returns whether they differ. */
static bool fill_weights(const struct median_tile *tile) {
    const uint8_t *alpha = tile->sample[tile->channels - 1];
    const uint16_t first = sample_at(tile, alpha, 0);
    uint16_t difference = 0;
    for (uint32_t y = 0; y < tile->height + 2 * tile->radius_y; y++) {
        for (uint32_t x = 0; x < tile->width + 2 * tile->radius_x; x++) {
            size_t at = y * tile->stride + x;
            tile->weight[at] = sample_at(tile, alpha, at);
            difference |= (uint16_t)(tile->weight[at] ^ first);
        }
    }
    return difference != 0;
}

/* Clears colour where alpha is 0. */
static void clear_invisible(const struct median_tile *tile) {
    const uint8_t *alpha = tile->result[tile->channels - 1];
    for (uint32_t y = 0; y < tile->height; y++) {
        for (size_t at = y * tile->stride; at < y * tile->stride + tile->width; at++) {
            for (unsigned c = 0; c + 1 < tile->channels && sample_at(tile, alpha, at) == 0; c++) {
                memset(tile->result[c] + at * tile->bytes, 0, tile->bytes);
            }
        }
    }
}

static void make_tile(const struct median *all, struct median_tile *tile, unsigned plane, uint32_t index) {
    const struct plane *source = &all->source->plane[plane];
    const struct extended extended = {source, all->source->depth, all->plan->edge, plane > 0 ? 128 : 0};
    const uint32_t across = tiles_of(source->width, all->side);
    const uint32_t x = index % across * all->side, y = index / across * all->side;
    tile->width = min_u32(all->side, source->width - x);
    tile->height = min_u32(all->side, source->height - y);
    load(tile, &extended, x, y);
    const bool weighted = tile->alpha && fill_weights(tile);
    for (unsigned c = 0; c < tile->channels; c++) {
        median_channel(tile, c, weighted && c + 1 < tile->channels);
    }
    if (tile->alpha) {
        clear_invisible(tile);
    }
    store(tile, &all->target->plane[plane], x, y);
}

/* The rows of the band are tiles. */
static void median_band(const void *context, const struct band *band) {
    const struct median *all = context;
    struct median_tile tile = tile_in(all, band->plane);
    tile.rows = &all->context->rows->rank;
    median_tile_place(&tile, all->context->scratch->memory + band->seat * all->seat);
    for (uint32_t i = band->from; i < band->to; i++) {
        make_tile(all, &tile, band->plane, i);
    }
}

static struct median make(const struct median_plan *plan, const struct image *source) {
    struct median all = {.plan = plan,
                         .source = source,
                         .side = source->depth == 8 && !image_pixel_has_alpha(source->model) ? TILE_NARROW
                                                                                             : TILE_WIDE};
    struct median_tile first = tile_in(&all, 0); /* no plane has larger ones */
    all.seat = median_tile_place(&first, NULL);
    return all;
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct median_plan *plan = planned;
    (void)rows;
    return (struct scratch_need){.seat = make(plan, source).seat};
}

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct median_plan *plan = planned;
    struct median all = make(plan, source);
    all.context = context;
    all.target = target;
    struct pass pass = {.band = median_band, .context = &all, .deadline_ns = context->deadline_ns};
    for (unsigned i = 0; i < source->plane_count; i++) {
        const struct plane *plane = &source->plane[i];
        pass.rows[i] = tiles_of(plane->width, all.side) * tiles_of(plane->height, all.side);
        pass.cost[i] = (uint64_t)min_u32(all.side, plane->width) * min_u32(all.side, plane->height) *
                       plane->channels * SAMPLES_OF_BLUR;
    }
    unsigned seats = bands_seats(context->crew, &pass, all.seat);
    enum status status =
        scratch_seats(context->scratch, &(struct scratch_need){.seat = all.seat}, &seats, err);
    return status == ST_OK ? bands_run(context->crew, seats, &pass, err) : status;
}

const struct cpu_filter cpu_filter_median = {.run = run, .need = need};
