/* SPDX-License-Identifier: MIT */
#include "tests/filters/filter_image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_image test_image_make(const struct image_shape *shape) {
    struct test_image made;
    made.size = image_layout(&made.image, shape) + 2 * GUARD_BYTES;
    made.memory = aligned_alloc(IMAGE_ALIGNMENT, made.size);
    if (!made.memory) {
        fprintf(stderr, "no memory for a picture\n");
        exit(2);
    }
    memset(made.memory, GUARD_BYTE, made.size);
    image_place(&made.image, made.memory + GUARD_BYTES);
    return made;
}

void test_image_free(struct test_image *image) {
    free(image->memory);
    image->memory = NULL;
}

unsigned test_sample(const struct image *image, unsigned plane, uint32_t x, uint32_t y, unsigned channel) {
    const struct plane *p = &image->plane[plane];
    size_t i = (size_t)x * p->channels + channel;
    const uint8_t *row = plane_row(p, y);
    return image->depth == 8 ? row[i] : ((const uint16_t *)(const void *)row)[i];
}

void test_put(const struct image *image, unsigned plane, uint32_t x, uint32_t y, unsigned channel,
              unsigned value) {
    const struct plane *p = &image->plane[plane];
    size_t i = (size_t)x * p->channels + channel;
    uint8_t *row = plane_row(p, y);
    if (image->depth == 8) {
        row[i] = (uint8_t)value;
    } else {
        ((uint16_t *)(void *)row)[i] = (uint16_t)value;
    }
}

/* Shades, an edge that is not along an axis, texture and grain, about 0 to 1. */
static double photo(uint32_t x, uint32_t y, unsigned c, uint64_t *random) {
    double fx = x;
    double fy = y;
    double shade = 0.5 + 0.3 * sin(fx / 37 + c) * cos(fy / 29);
    double edge = fx + 0.6 * fy < 150 ? 0.15 : -0.1;
    double texture = 0.08 * sin(fx * 0.9 + fy * 0.4) * (sin(fy / 17) > 0);
    double grain = ((double)(test_random(random) % 1000) / 1000 - 0.5) * 0.04;
    return shade + edge + texture + grain;
}

/* As a part of the largest sample. */
static double content_at(enum content content, const struct plane *plane, uint32_t x, uint32_t y, unsigned c,
                         uint64_t *random) {
    switch (content) {
    case CONTENT_NOISE:
        return (double)(test_random(random) % 65536) / 65535;
    case CONTENT_ZERO:
        return 0;
    case CONTENT_MAX:
        return 1;
    case CONTENT_CHECKER:
        return (x + y + c) % 2;
    case CONTENT_IMPULSE:
        return x == plane->width / 2 && y == plane->height / 2;
    case CONTENT_STEP:
        return x >= plane->width / 3 && y >= plane->height / 4;
    case CONTENT_STRIPES:
        return x / (2 + y / 16) % 2;
    case CONTENT_PHOTO:
    case CONTENT_COUNT:
        break;
    }
    return photo(x, y, c, random);
}

void test_image_fill(struct test_image *image, enum content content, uint64_t *random) {
    double max = image->image.depth == 8 ? 255 : 65535;
    for (unsigned i = 0; i < image->image.plane_count; i++) {
        const struct plane *plane = &image->image.plane[i];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                for (unsigned c = 0; c < plane->channels; c++) {
                    double value = content_at(content, plane, x, y, c, random);
                    value = value < 0 ? 0 : value > 1 ? 1 : value;
                    test_put(&image->image, i, x, y, c, (unsigned)(value * max + 0.5));
                }
            }
        }
    }
}

void test_image_set(struct test_image *image, unsigned value) {
    for (unsigned i = 0; i < image->image.plane_count; i++) {
        const struct plane *plane = &image->image.plane[i];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width * plane->channels; x++) {
                test_put(&image->image, i, x / plane->channels, y, x % plane->channels, value);
            }
        }
    }
}
