/* SPDX-License-Identifier: MIT
 * Pictures for filter tests, made from a seed, with guard bytes around them. */
#ifndef BLURD_TESTS_FILTER_IMAGE_H
#define BLURD_TESTS_FILTER_IMAGE_H

#include "core/image.h"

#include "tests/filters/random.h"

/* The byte that fills padding and guards: memcmp over all of `memory` shows a write outside the picture. */
enum { GUARD_BYTE = 0xa5, GUARD_BYTES = 256 };

struct test_image {
    struct image image;
    uint8_t *memory; /* guard, pixels, guard */
    size_t size;
};

enum content {
    CONTENT_NOISE,
    CONTENT_ZERO,
    CONTENT_MAX,
    CONTENT_CHECKER,
    CONTENT_IMPULSE,
    CONTENT_STEP,
    CONTENT_STRIPES,
    CONTENT_PHOTO, /* smooth shades with edges, texture and grain */
    CONTENT_COUNT
};

/* A picture of the shape, all bytes GUARD_BYTE. Ends the program without memory. */
struct test_image test_image_make(const struct image_shape *shape);
void test_image_free(struct test_image *image);

void test_image_fill(struct test_image *image, enum content content, uint64_t *random);
void test_image_set(struct test_image *image, unsigned value);

unsigned test_sample(const struct image *image, unsigned plane, uint32_t x, uint32_t y, unsigned channel);
void test_put(const struct image *image, unsigned plane, uint32_t x, uint32_t y, unsigned channel,
              unsigned value);

#endif
