/* SPDX-License-Identifier: MIT */
#include "cpu/blend.h"

enum { COVERAGE_MAX = 255 };

static uint64_t sample(const void *row, unsigned depth, size_t at) {
    return depth == 8 ? ((const uint8_t *)row)[at] : ((const uint16_t *)row)[at];
}

static void put(void *row, unsigned depth, size_t at, uint64_t value) {
    if (depth == 8) {
        ((uint8_t *)row)[at] = (uint8_t)value;
    } else {
        ((uint16_t *)row)[at] = (uint16_t)value;
    }
}

/* The mean coverage of the pixels that sample (x, y) of a plane stands for. */
static unsigned coverage(const struct image *mask, const struct plane *plane, uint32_t x, uint32_t y) {
    uint32_t sum = 0;
    uint32_t count = 0;
    for (uint32_t j = y << plane->shift_y; j < (y + 1) << plane->shift_y && j < mask->height; j++) {
        for (uint32_t i = x << plane->shift_x; i < (x + 1) << plane->shift_x && i < mask->width; i++) {
            sum += plane_row(&mask->plane[0], j)[i];
            count++;
        }
    }
    return (sum + count / 2) / count;
}

static void blend_pixel(const void *from, void *to, unsigned depth, unsigned channels, bool alpha, size_t x,
                        uint64_t m) {
    size_t at = x * channels;
    uint64_t rest = COVERAGE_MAX - m;
    unsigned plain = alpha ? channels - 1 : channels;
    uint64_t old = alpha ? sample(from, depth, at + plain) * rest : rest;
    uint64_t new = alpha ? sample(to, depth, at + plain) * m : m;
    uint64_t total = old + new;
    for (unsigned c = 0; c < plain; c++, at++) {
        uint64_t sum = sample(from, depth, at) * old + sample(to, depth, at) * new;
        put(to, depth, at, total ? (sum + total / 2) / total : 0);
    }
    if (alpha) {
        put(to, depth, at, (total + COVERAGE_MAX / 2) / COVERAGE_MAX);
    }
}

static void blend_row(const struct image *source, const struct image *result, const struct image *mask,
                      unsigned index, uint32_t y) {
    const struct plane *plane = &source->plane[index];
    const uint8_t *from = plane_row(plane, y);
    uint8_t *to = plane_row(&result->plane[index], y);
    for (uint32_t x = 0; x < plane->width; x++) {
        unsigned m = coverage(mask, plane, x, y);
        if (m == 0) {
            for (size_t c = 0, at = (size_t)x * plane->channels; c < plane->channels; c++, at++) {
                put(to, source->depth, at, sample(from, source->depth, at));
            }
        } else if (m < COVERAGE_MAX) {
            blend_pixel(from, to, source->depth, plane->channels, pixel_has_alpha(source->model), x, m);
        }
    }
}

void blend(const struct image *source, const struct image *result, const struct image *mask) {
    for (unsigned i = 0; i < source->plane_count; i++) {
        for (uint32_t y = 0; y < source->plane[i].height; y++) {
            blend_row(source, result, mask, i, y);
        }
    }
}
