/* SPDX-License-Identifier: MIT */
#include "server/placeholder/thumbnail.h"

static uint8_t sample_at(const uint8_t *row, unsigned depth, size_t index) {
    enum { HALF = 128, STEP = 257 };
    return depth == 8 ? row[index] : (uint8_t)((((const uint16_t *)(const void *)row)[index] + HALF) / STEP);
}

void thumbnail_read(struct thumbnail *thumbnail, const struct image *image) {
    const unsigned channels = image_pixel_channels(image->model);
    const bool alpha = image_pixel_has_alpha(image->model);
    thumbnail->width = image->width;
    thumbnail->height = image->height;
    thumbnail->model = image->model;
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = plane_row(&image->plane[0], y);
        for (uint32_t x = 0; x < image->width; x++) {
            uint8_t *pixel = thumbnail->pixel[y * image->width + x];
            for (unsigned c = 0; c < 3; c++) {
                pixel[c] = sample_at(row, image->depth, x * channels + (channels < 3 ? 0 : c));
            }
            pixel[3] = alpha ? sample_at(row, image->depth, x * channels + channels - 1) : UINT8_MAX;
        }
    }
}

/* The part of target sample `to` that source sample `from` fills, in units of source * target samples a
 * side. */
static uint32_t overlap(uint32_t from, uint32_t source, uint32_t to, uint32_t target) {
    uint32_t begin = from * target > to * source ? from * target : to * source;
    uint32_t end = (from + 1) * target < (to + 1) * source ? (from + 1) * target : (to + 1) * source;
    return end - begin;
}

static uint8_t quotient(uint64_t sum, uint64_t weight) {
    uint64_t mean = weight ? (sum + weight / 2) / weight : 0;
    return (uint8_t)mean;
}

static void mean_of(const struct thumbnail *from, const struct thumbnail *small, uint32_t column,
                    uint32_t row, uint8_t pixel[4]) {
    uint64_t sum[3] = {0}, alpha = 0;
    for (uint32_t y = row * from->height / small->height; y * small->height < (row + 1) * from->height; y++) {
        uint32_t rows = overlap(y, from->height, row, small->height);
        for (uint32_t x = column * from->width / small->width; x * small->width < (column + 1) * from->width;
             x++) {
            const uint8_t *source = from->pixel[y * from->width + x];
            uint64_t weight = (uint64_t)rows * overlap(x, from->width, column, small->width) * source[3];
            for (unsigned c = 0; c < 3; c++) {
                sum[c] += weight * source[c];
            }
            alpha += weight;
        }
    }
    for (unsigned c = 0; c < 3; c++) {
        pixel[c] = quotient(sum[c], alpha);
    }
    pixel[3] = quotient(alpha, (uint64_t)from->width * from->height);
}

void thumbnail_shrink(const struct thumbnail *thumbnail, uint32_t width, uint32_t height,
                      struct thumbnail *small) {
    small->width = width;
    small->height = height;
    small->model = thumbnail->model;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            mean_of(thumbnail, small, x, y, small->pixel[y * width + x]);
        }
    }
}
