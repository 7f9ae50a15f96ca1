/* SPDX-License-Identifier: MIT */
#include "cpu/mask/redact.h"

#include <string.h>

#include "core/deadline.h"
#include "core/numbers.h"
#include "cpu/mask/mask_plane.h"
#include "filters/argument/colour.h"

enum { CHANNELS_MAX = 4, LEVELS = 16, LOOK_RANGE = 24, DEADLINE_ROWS = 64 };

/* What a region is filled with; for YCbCr a plane counts as a channel. */
struct samples {
    uint16_t value[CHANNELS_MAX];
};

struct redact_sums {
    uint64_t total[CHANNELS_MAX];
    uint64_t weight[CHANNELS_MAX];
};

struct redact_job {
    const struct image *image;
    const struct image *mask;
    const struct redact_options *options;
    struct redact_sums sums;    /* of the current region */
    const struct samples *fill; /* of the current region */
    bool late;                  /* the deadline has passed: the rest is skipped */
};

/* `count` adjacent pixels of row y of plane `index`, from column x on. */
struct redact_span {
    unsigned index;
    uint32_t x, y;
    uint32_t count;
};

static uint8_t *span_pixels(const struct redact_job *job, const struct redact_span *span) {
    const struct plane *plane = &job->image->plane[span->index];
    return plane_row(plane, span->y) + (size_t)span->x * plane->channels * (job->image->depth / 8);
}

typedef void visit_span(struct redact_job *job, const struct redact_span *span);

enum { MASK_OUT = 0, MASK_IN = 255 }; /* of a mask; it has no other values */

/* Calls `visit` for each part of the span where m is `value`. */
static void each_part(struct redact_job *job, const struct redact_span *span, const uint8_t *m, int value,
                      visit_span *visit) {
    const uint8_t *at = m, *end = m + span->count, *stop;
    while (at < end && (at = memchr(at, value, (size_t)(end - at)))) {
        stop = memchr(at, MASK_IN - value, (size_t)(end - at));
        stop = stop ? stop : end;
        visit(job, &(struct redact_span){span->index, span->x + (uint32_t)(at - m), span->y,
                                         (uint32_t)(stop - at)});
        at = stop;
    }
}

/* Visits the samples of a rectangle: either those under the mask, or the others. Calls `visit` for each. */
static void each_span(struct redact_job *job, struct mask_rect rect, int value, visit_span *visit) {
    for (unsigned p = 0; p < job->image->plane_count; p++) {
        const struct plane *plane = &job->image->plane[p];
        uint32_t x1 = (uint32_t)(((uint64_t)rect.x1 + (1u << plane->shift_x) - 1) >> plane->shift_x);
        uint32_t y1 = (uint32_t)(((uint64_t)rect.y1 + (1u << plane->shift_y) - 1) >> plane->shift_y);
        for (uint32_t y = rect.y0 >> plane->shift_y; y < y1 && !job->late; y++) {
            job->late = y % DEADLINE_ROWS == 0 && deadline_left(job->options->deadline_ns) == 0;
            for (uint32_t x = rect.x0 >> plane->shift_x; x < x1; x += MASK_CHUNK) {
                uint8_t buffer[MASK_CHUNK];
                uint32_t count = x1 - x < MASK_CHUNK ? x1 - x : MASK_CHUNK;
                const uint8_t *m = mask_samples(job->mask, plane, y, x, count, MASK_ANY, buffer);
                each_part(job, &(struct redact_span){p, x, y, count}, m, value, visit);
            }
        }
    }
}

static inline uint64_t sample(const uint8_t *samples, size_t i, unsigned depth) {
    return depth == 8 ? samples[i] : ((const uint16_t *)(const void *)samples)[i];
}

/* Sums every `step`-th sample, or its product with the sample at `weight`. */

static inline uint64_t sum_of(const uint8_t *samples, size_t first, unsigned step, uint32_t count,
                              unsigned depth) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += sample(samples, first + (size_t)i * step, depth);
    }
    return sum;
}

static inline uint64_t weighted_sum(const uint8_t *samples, size_t first, size_t weight, unsigned step,
                                    uint32_t count, unsigned depth) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)i * step;
        sum += sample(samples, first + at, depth) * sample(samples, weight + at, depth);
    }
    return sum;
}

static void sum_span(struct redact_job *job, const struct redact_span *span) {
    unsigned channels = job->image->plane[span->index].channels, depth = job->image->depth;
    unsigned colours = channels - image_pixel_has_alpha(job->image->model);
    const uint8_t *pixels = span_pixels(job, span);
    uint64_t weight = span->count;
    if (colours < channels) {
        weight = sum_of(pixels, colours, channels, span->count, depth);
        job->sums.total[colours] += weight;
        job->sums.weight[colours] += span->count;
    }
    for (unsigned c = 0; c < colours; c++) {
        job->sums.total[span->index + c] +=
            colours < channels ? weighted_sum(pixels, c, colours, channels, span->count, depth)
                               : sum_of(pixels, c, channels, span->count, depth);
        job->sums.weight[span->index + c] += weight;
    }
}

/* Reduces a mean to one of 16 values by the kind of channel: all that is ever known of a region. */
static uint16_t level_of(const struct image *image, unsigned channel, unsigned mean) {
    unsigned bin = image->depth == 8 ? 16 : 4096, max = bin * LEVELS - 1;
    if (image_pixel_has_alpha(image->model) && channel == image_pixel_channels(image->model) - 1) {
        unsigned step = max / (LEVELS - 1);
        return (uint16_t)((mean + step / 2) / step * step);
    }
    if (image->model == PIXEL_YCBCR && channel > 0) {
        unsigned nearest = (mean + bin / 2) / bin;
        return (uint16_t)((nearest < LEVELS ? nearest : LEVELS - 1) * bin);
    }
    return (uint16_t)(mean / bin * bin + bin / 2);
}

static unsigned mean_of(const struct redact_sums *sums, unsigned channel) {
    uint64_t weight = sums->weight[channel];
    return weight ? (unsigned)((sums->total[channel] + weight / 2) / weight) : 0;
}

static struct samples level_samples(const struct image *image, const struct redact_sums *sums) {
    struct samples fill = {{0}};
    for (unsigned c = 0; c < image_pixel_channels(image->model); c++) {
        fill.value[c] = level_of(image, c, mean_of(sums, c));
    }
    return fill;
}

/* A hash of the tile's place, from -LOOK_RANGE to LOOK_RANGE. */
static int shade_of(uint32_t column, uint32_t row) {
    uint32_t h = column * 0x9e3779b1u ^ row * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (int)((h ^ (h >> 15)) % (2 * LOOK_RANGE + 1)) - LOOK_RANGE;
}

/* The fill of the tile that has pixel x of the row. Chroma and alpha have no shade. */
static struct samples tile_fill(const struct redact_job *job, const struct redact_span *span, uint32_t x) {
    struct samples fill = *job->fill;
    uint32_t block = job->options->block;
    if (block == 0 || span->index > 0) {
        return fill;
    }
    int unit = job->image->depth == 8 ? 1 : 257, max = 255 * unit;
    int shade = shade_of(x / block, span->y / block) * unit;
    unsigned channels = job->image->plane[0].channels;
    for (unsigned c = 0; c < channels - image_pixel_has_alpha(job->image->model); c++) {
        int value = fill.value[c] + shade;
        fill.value[c] = (uint16_t)(value < 0 ? 0 : value > max ? max : value);
    }
    return fill;
}

/* Repeats a pixel `count` times; each copy doubles the filled part. */
static void repeat(uint8_t *to, const void *pixel, size_t size, size_t count) {
    memcpy(to, pixel, size);
    for (size_t done = 1; done < count; done *= 2) {
        memcpy(to + done * size, to, (count - done < done ? count - done : done) * size);
    }
}

static void fill_part(struct redact_job *job, const struct redact_span *span) {
    struct samples fill = tile_fill(job, span, span->x);
    unsigned channels = job->image->plane[span->index].channels;
    uint8_t narrow[CHANNELS_MAX];
    for (unsigned c = 0; c < channels; c++) {
        narrow[c] = (uint8_t)fill.value[span->index + c];
    }
    const void *pixel = job->image->depth == 8 ? (const void *)narrow : fill.value;
    repeat(span_pixels(job, span), pixel, channels * (job->image->depth / 8u), span->count);
}

static void fill_span(struct redact_job *job, const struct redact_span *span) {
    uint32_t block = job->options->block ? job->options->block : UINT32_MAX;
    struct redact_span part = *span;
    for (uint32_t left = span->count; left > 0; left -= part.count, part.x += part.count) {
        uint32_t rest = block - part.x % block;
        part.count = rest < left ? rest : left;
        fill_part(job, &part);
    }
}

/* Whether the picture has a single part: no regions, inverted ones, or a drawn mask. */
static bool is_single(const struct redact_job *job, const struct region_set *set) {
    return set->count == 0 || job->options->invert || job->options->drawn;
}

/* Draws all regions together. */
static struct mask_rect draw_all(struct redact_job *job, const struct region_set *set) {
    struct mask_options options = {.invert = is_single(job, set),
                                   .outward = true,
                                   .grid = job->options->grid,
                                   .deadline_ns = job->options->deadline_ns};
    struct mask_report report;
    if (job->options->drawn) {
        return (struct mask_rect){0, 0, job->mask->width, job->mask->height};
    }
    job->late = mask_draw(job->mask, set, &options, &report, NULL) == ST_LIMIT;
    return report.bounds; /* no region, inverted, is the whole picture */
}

static struct mask_rect draw_part(struct redact_job *job, const struct region_set *set, uint32_t i) {
    const struct mask_options options = {.outward = true, .grid = job->options->grid};
    return is_single(job, set) ? draw_all(job, set) : mask_draw_region(job->mask, set, i, &options);
}

/* A drawn mask stays. */
static void clear_part(const struct redact_job *job, struct mask_rect rect) {
    if (!job->options->drawn) {
        mask_clear(job->mask, rect);
    }
}

/* Small regions have few rows, so the deadline is checked between regions, too. */
static bool is_late(struct redact_job *job) {
    job->late = job->late || deadline_left(job->options->deadline_ns) == 0;
    return job->late;
}

static struct redact_sums sums_of(struct redact_job *job, struct mask_rect rect, int value) {
    job->sums = (struct redact_sums){{0}, {0}};
    each_span(job, rect, value, sum_span);
    return job->sums;
}

static void find_levels(struct redact_job *job, const struct region_set *set, uint32_t parts,
                        struct samples *fill) {
    for (uint32_t i = 0; i < parts && !is_late(job); i++) {
        struct mask_rect rect = draw_part(job, set, i);
        const struct redact_sums sums = sums_of(job, rect, MASK_IN);
        fill[i] = level_samples(job->image, &sums);
        clear_part(job, rect);
    }
}

/* The rectangle around what the mask has in `drawn`, and its ring. */
static struct mask_rect with_ring(const struct image *mask, struct mask_rect drawn) {
    struct mask_report report;
    mask_measure(mask, drawn, &report);
    const struct mask_rect around = report.bounds;
    return report.covered == 0 ? around
                               : (struct mask_rect){around.x0 - min_u32(around.x0, FILL_RING_WIDTH),
                                                    around.y0 - min_u32(around.y0, FILL_RING_WIDTH),
                                                    min_u32(around.x1 + FILL_RING_WIDTH, mask->width),
                                                    min_u32(around.y1 + FILL_RING_WIDTH, mask->height)};
}

/* Writes each channel's mean, or the value of `other` where the channel has no samples. Returns whether all
 * have some. */
static bool complete(const struct redact_job *job, struct samples *fill, const struct redact_sums *sums,
                     const struct samples *other) {
    bool all = true;
    for (unsigned c = 0; c < image_pixel_channels(job->image->model); c++) {
        all = all && sums->weight[c] > 0;
        fill->value[c] = sums->weight[c] > 0 ? (uint16_t)mean_of(sums, c) : other->value[c];
    }
    return all;
}

/* `colour` is that of a whole picture. Only samples outside of all regions are read. */
static void find_rings(struct redact_job *job, const struct region_set *set, uint32_t parts,
                       const struct samples *colour, struct samples *fill) {
    struct mask_rect ring[REGIONS_MAX];
    struct samples common = *colour;
    bool common_known = false;
    for (uint32_t i = 0; i < parts && !is_late(job); i++) {
        struct mask_rect rect = draw_part(job, set, i);
        ring[i] = with_ring(job->mask, rect);
        clear_part(job, rect);
    }
    struct mask_rect all = draw_all(job, set);
    for (uint32_t i = 0; i < parts && !is_late(job); i++) {
        const struct redact_sums sums = sums_of(job, ring[i], MASK_OUT);
        if (!complete(job, &fill[i], &sums, &common) && !common_known) {
            const struct redact_sums around = sums_of(job, with_ring(job->mask, all), MASK_OUT);
            complete(job, &common, &around, colour);
            complete(job, &fill[i], &sums, &common);
            common_known = true;
        }
    }
    clear_part(job, all);
}

static void find_fills(struct redact_job *job, const struct region_set *set, uint32_t parts,
                       struct samples *fill) {
    const struct fill *wanted = &job->options->fill;
    const struct image_shape shape = image_shape(job->image);
    struct samples colour = {{0}};
    colour_samples(wanted->colour, &shape, colour.value);
    if (wanted->kind == FILL_MEAN) {
        find_levels(job, set, parts, fill);
    } else if (wanted->kind == FILL_RING) {
        find_rings(job, set, parts, &colour, fill);
    } else {
        for (uint32_t i = 0; i < parts; i++) {
            fill[i] = colour;
        }
    }
}

enum status redact_image(const struct image *image, const struct region_set *set,
                         const struct redact_options *options, const struct image *mask, struct error *err) {
    const struct image *drawn = options->drawn;
    struct redact_job job = {.image = image, .mask = drawn ? drawn : mask, .options = options};
    struct samples fill[REGIONS_MAX];
    uint32_t parts = is_single(&job, set) ? 1 : set->count;
    if (job.mask->model != PIXEL_GRAY || job.mask->depth != 8 || job.mask->width != image->width ||
        job.mask->height != image->height) {
        return fail(err, ST_INTERNAL, "the mask does not fit the picture");
    }
    clear_part(&job, (struct mask_rect){0, 0, mask->width, mask->height});
    find_fills(&job, set, parts, fill);
    for (uint32_t i = 0; i < parts && !is_late(&job); i++) {
        struct mask_rect rect = draw_part(&job, set, i);
        job.fill = &fill[i];
        each_span(&job, rect, MASK_IN, fill_span);
        clear_part(&job, rect);
    }
    return job.late ? deadline_check(options->deadline_ns, err) : ST_OK;
}

/* Of a row: samples of `alpha` and what stands before it. */
static void clear_faint(uint8_t *row, uint32_t width, unsigned channels, unsigned depth) {
    uint16_t *wide = (uint16_t *)(void *)row;
    for (uint32_t x = 0; x < width; x++, row += channels, wide += channels) {
        const unsigned alpha = depth == 8 ? row[channels - 1] : wide[channels - 1];
        if (10 * alpha < (1u << depth) - 1) {
            memset(depth == 8 ? (void *)row : (void *)wide, 0, (size_t)(channels - 1) * (depth / 8));
        }
    }
}

void redact_faint(const struct image *picture) {
    const struct plane *plane = &picture->plane[0];
    for (uint32_t y = 0; image_pixel_has_alpha(picture->model) && y < plane->height; y++) {
        clear_faint(plane_row(plane, y), plane->width, plane->channels, picture->depth);
    }
}
