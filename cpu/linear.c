/* SPDX-License-Identifier: MIT */
#include "cpu/linear.h"

#include <pthread.h>
#include <string.h>

#include "cpu/bands.h"
#include "filters/colour/light.h"

enum { SAMPLE_COST = 2 /* a look-up, relative to the blur of a sample */ };

static struct {
    uint16_t from8[LIGHT_SAMPLES];
    uint16_t from16[LIGHT_LEVELS];
    uint8_t to8[LIGHT_LEVELS];
    uint16_t to16[LIGHT_LEVELS];
} tables;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    memcpy(tables.from8, light_table()->light, sizeof tables.from8);
    for (unsigned i = 0; i < LIGHT_LEVELS; i++) {
        double encoded = light_sample(i / 65535.0);
        tables.from16[i] = (uint16_t)(65535 * light_of(i / 65535.0) + 0.5);
        tables.to8[i] = (uint8_t)(255 * encoded + 0.5);
        tables.to16[i] = (uint16_t)(65535 * encoded + 0.5);
    }
}

/* All samples go through the table; then alpha, each `channels`-th sample, is written anew. */

static void row_from8(uint16_t *to, const uint8_t *from, size_t count, unsigned channels, bool alpha) {
    for (size_t i = 0; i < count; i++) {
        to[i] = tables.from8[from[i]];
    }
    for (size_t i = channels - 1; alpha && i < count; i += channels) {
        to[i] = (uint16_t)(from[i] * 257u);
    }
}

static void row_to8(uint8_t *to, const uint16_t *from, size_t count, unsigned channels, bool alpha) {
    for (size_t i = 0; i < count; i++) {
        to[i] = tables.to8[from[i]];
    }
    for (size_t i = channels - 1; alpha && i < count; i += channels) {
        to[i] = (uint8_t)((from[i] + 128u) / 257);
    }
}

static void row16(uint16_t *to, const uint16_t *from, const uint16_t *table, size_t count, unsigned channels,
                  bool alpha) {
    for (size_t i = 0; i < count; i++) {
        to[i] = table[from[i]];
    }
    for (size_t i = channels - 1; alpha && i < count; i += channels) {
        to[i] = from[i];
    }
}

static uint16_t *wide_row(const struct image *image, uint32_t y) {
    return (uint16_t *)(void *)plane_row(&image->plane[0], y);
}

struct conversion {
    const struct image *source, *target;
};

static void band_from(const void *context, const struct band *band) {
    const struct image *source = ((const struct conversion *)context)->source;
    const struct image *target = ((const struct conversion *)context)->target;
    unsigned channels = source->plane[0].channels;
    size_t count = (size_t)source->width * channels;
    bool alpha = image_pixel_has_alpha(source->model);
    for (uint32_t y = band->from; y < band->to; y++) {
        if (source->depth == 8) {
            row_from8(wide_row(target, y), plane_row(&source->plane[0], y), count, channels, alpha);
        } else {
            row16(wide_row(target, y), wide_row(source, y), tables.from16, count, channels, alpha);
        }
    }
}

static void band_to(const void *context, const struct band *band) {
    const struct image *source = ((const struct conversion *)context)->source;
    const struct image *target = ((const struct conversion *)context)->target;
    unsigned channels = target->plane[0].channels;
    size_t count = (size_t)target->width * channels;
    bool alpha = image_pixel_has_alpha(target->model);
    for (uint32_t y = band->from; y < band->to; y++) {
        if (target->depth == 8) {
            row_to8(plane_row(&target->plane[0], y), wide_row(source, y), count, channels, alpha);
        } else {
            row16(wide_row(target, y), wide_row(source, y), tables.to16, count, channels, alpha);
        }
    }
}

static enum status convert(struct crew *crew, struct pass *pass, struct error *err) {
    const struct image *source = ((const struct conversion *)pass->context)->source;
    pthread_once(&once, make_tables);
    pass->rows[0] = source->height;
    pass->cost[0] = (uint64_t)source->width * source->plane[0].channels * SAMPLE_COST;
    return bands_run(crew, bands_seats(crew, pass, 0), pass, err);
}

enum status linear_from(struct crew *crew, int64_t deadline_ns, const struct image *source,
                        const struct image *target, struct error *err) {
    const struct conversion conversion = {source, target};
    struct pass pass = {.band = band_from, .context = &conversion, .deadline_ns = deadline_ns};
    return convert(crew, &pass, err);
}

enum status linear_to(struct crew *crew, int64_t deadline_ns, const struct image *source,
                      const struct image *target, struct error *err) {
    const struct conversion conversion = {source, target};
    struct pass pass = {.band = band_to, .context = &conversion, .deadline_ns = deadline_ns};
    return convert(crew, &pass, err);
}
