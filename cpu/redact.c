/* SPDX-License-Identifier: MIT */
#include "cpu/redact.h"

#include <string.h>

#include "cpu/mask_plane.h"

enum { CHANNELS_MAX = 4, LEVELS = 16, LOOK_RANGE = 24 };

/* One for all: what a region is replaced by. YCbCr has its planes for channels. */
struct fill {
    uint16_t value[CHANNELS_MAX];
};

struct sums {
    uint64_t total[CHANNELS_MAX];
    uint64_t weight[CHANNELS_MAX];
};

struct job {
    const struct image *image;
    const struct image *mask;
    const struct redact_options *options;
    struct sums sums;        /* of the region at hand */
    const struct fill *fill; /* the same */
};

/* `count` adjacent pixels of a row of plane `index`, from column x on; m[i] is 0 for those outside. */
struct run {
    unsigned index;
    uint32_t x, y;
    uint32_t count;
    const uint8_t *m;
};

static unsigned get(const struct image *image, const struct run *run, uint32_t i, unsigned channel) {
    const struct plane *plane = &image->plane[run->index];
    const uint8_t *row = plane_row(plane, run->y);
    size_t at = (size_t)(run->x + i) * plane->channels + channel;
    return image->depth == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

static void put(const struct image *image, const struct run *run, uint32_t i, unsigned channel,
                unsigned value) {
    const struct plane *plane = &image->plane[run->index];
    uint8_t *row = plane_row(plane, run->y);
    size_t at = (size_t)(run->x + i) * plane->channels + channel;
    if (image->depth == 8) {
        row[at] = (uint8_t)value;
    } else {
        ((uint16_t *)(void *)row)[at] = (uint16_t)value;
    }
}

/* Calls `visit` for all samples of all planes that the rectangle of the picture touches. */
static void each_run(struct job *job, struct mask_rect rect,
                     void (*visit)(struct job *job, const struct run *run)) {
    for (unsigned p = 0; p < job->image->plane_count; p++) {
        const struct plane *plane = &job->image->plane[p];
        uint32_t x1 = (uint32_t)(((uint64_t)rect.x1 + (1u << plane->shift_x) - 1) >> plane->shift_x);
        uint32_t y1 = (uint32_t)(((uint64_t)rect.y1 + (1u << plane->shift_y) - 1) >> plane->shift_y);
        for (uint32_t y = rect.y0 >> plane->shift_y; y < y1; y++) {
            for (uint32_t x = rect.x0 >> plane->shift_x; x < x1; x += MASK_CHUNK) {
                uint8_t buffer[MASK_CHUNK];
                uint32_t count = x1 - x < MASK_CHUNK ? x1 - x : MASK_CHUNK;
                const uint8_t *m = mask_samples(job->mask, plane, y, x, count, MASK_ANY, buffer);
                visit(job, &(struct run){p, x, y, count, m});
            }
        }
    }
}

/* ---- the mean ---- */

static void sum_run(struct job *job, const struct run *run) {
    unsigned channels = job->image->plane[run->index].channels;
    bool alpha = pixel_has_alpha(job->image->model);
    unsigned colours = alpha ? channels - 1 : channels;
    for (uint32_t i = 0; i < run->count; i++) {
        if (!run->m[i]) {
            continue;
        }
        uint64_t weight = alpha ? get(job->image, run, i, colours) : 1;
        for (unsigned c = 0; c < colours; c++) {
            job->sums.total[run->index + c] += weight * get(job->image, run, i, c);
            job->sums.weight[run->index + c] += weight;
        }
        if (alpha) {
            job->sums.total[colours] += weight;
            job->sums.weight[colours]++;
        }
    }
}

/* One of 16 values, by the channel's kind: this is all that is ever known of a region. */
static uint16_t level_of(const struct image *image, unsigned channel, unsigned mean) {
    unsigned bin = image->depth == 8 ? 16 : 4096, max = bin * LEVELS - 1;
    if (pixel_has_alpha(image->model) && channel == pixel_channels(image->model) - 1) {
        unsigned step = max / (LEVELS - 1);
        return (uint16_t)((mean + step / 2) / step * step);
    }
    if (image->model == PIXEL_YCBCR && channel > 0) {
        unsigned nearest = (mean + bin / 2) / bin;
        return (uint16_t)((nearest < LEVELS ? nearest : LEVELS - 1) * bin);
    }
    return (uint16_t)(mean / bin * bin + bin / 2);
}

static struct fill fill_of(const struct image *image, const struct sums *sums) {
    struct fill fill = {{0}};
    for (unsigned c = 0; c < pixel_channels(image->model); c++) {
        uint64_t weight = sums->weight[c];
        uint64_t mean = weight ? (sums->total[c] + weight / 2) / weight : 0;
        fill.value[c] = level_of(image, c, (unsigned)mean);
    }
    return fill;
}

/* ---- the replacement ---- */

/* A number from -LOOK_RANGE to LOOK_RANGE that depends on the place of the tile alone. */
static int look(uint32_t column, uint32_t row) {
    uint32_t h = column * 0x9e3779b1u ^ row * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (int)((h ^ (h >> 15)) % (2 * LOOK_RANGE + 1)) - LOOK_RANGE;
}

/* The fill of the tile that has pixel x of the run's row. Chroma and alpha have no look. */
static struct fill tile_fill(const struct job *job, const struct run *run, uint32_t x) {
    struct fill fill = *job->fill;
    uint32_t block = job->options->block;
    if (block == 0 || run->index > 0) {
        return fill;
    }
    int unit = job->image->depth == 8 ? 1 : 257, max = 255 * unit;
    int shade = look(x / block, run->y / block) * unit;
    unsigned channels = job->image->plane[0].channels;
    for (unsigned c = 0; c < channels - pixel_has_alpha(job->image->model); c++) {
        int value = fill.value[c] + shade;
        fill.value[c] = (uint16_t)(value < 0 ? 0 : value > max ? max : value);
    }
    return fill;
}

static void fill_run(struct job *job, const struct run *run) {
    uint32_t block = job->options->block;
    unsigned channels = job->image->plane[run->index].channels;
    struct fill fill = {{0}};
    for (uint32_t i = 0; i < run->count; i++) {
        if (i == 0 || (block && (run->x + i) % block == 0)) {
            fill = tile_fill(job, run, run->x + i);
        }
        if (run->m[i]) {
            for (unsigned c = 0; c < channels; c++) {
                put(job->image, run, i, c, fill.value[run->index + c]);
            }
        }
    }
}

/* ---- regions ---- */

/* Whether there is one part, whatever the regions: none of them, or all that is around them. */
static bool is_single(const struct job *job, const struct region_set *set) {
    return set->count == 0 || job->options->invert;
}

/* Draws part i over the empty mask. */
static struct mask_rect draw_part(struct job *job, const struct region_set *set, uint32_t i) {
    bool single = is_single(job, set);
    struct mask_options options = {.invert = single, .outward = true, .grid = job->options->grid};
    struct mask_report report;
    if (single) {
        mask_draw(job->mask, set, &options, &report); /* inverted, no region is everything */
        return report.bounds;
    }
    return mask_draw_region(job->mask, set, i, &options);
}

enum status redact_image(const struct image *image, const struct region_set *set,
                         const struct redact_options *options, const struct image *mask, struct error *err) {
    struct job job = {.image = image, .mask = mask, .options = options};
    struct fill fill[REGIONS_MAX];
    uint32_t parts = is_single(&job, set) ? 1 : set->count;
    if (mask->model != PIXEL_GRAY || mask->depth != 8 || mask->width != image->width ||
        mask->height != image->height) {
        return fail(err, ST_INTERNAL, "the mask does not fit the picture");
    }
    mask_clear(mask, (struct mask_rect){0, 0, mask->width, mask->height});
    for (uint32_t i = 0; i < parts; i++) {
        struct mask_rect rect = draw_part(&job, set, i);
        job.sums = (struct sums){{0}, {0}};
        each_run(&job, rect, sum_run);
        fill[i] = fill_of(image, &job.sums);
        mask_clear(mask, rect);
    }
    for (uint32_t i = 0; i < parts; i++) {
        struct mask_rect rect = draw_part(&job, set, i);
        job.fill = &fill[i];
        each_run(&job, rect, fill_run);
        mask_clear(mask, rect);
    }
    return ST_OK;
}
